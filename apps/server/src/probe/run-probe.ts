import { createRandomness } from "@formbridge/core";
import { type Answer, type Call, createCalls, inWords, type Server } from "./calls.ts";

export interface ProbeOptions extends Server {
  intake: string;
  fields: Record<string, unknown>;
  /** Submit even if that sends something to a destination or to reviewers. */
  deliver: boolean;
}

export interface ProbeReport {
  submissionId: string;
  /** The submission's last state. */
  state: string;
  steps: { name: string; ms: number }[];
}

/** Whatever happens to the probe, its submission doesn't stay open for longer. */
const TTL_MS = 600_000;
const ACTOR = { kind: "agent", id: "formbridge_probe" };
const ENDED = new Set(["finalized", "cancelled", "expired"]);

/**
 * Creates, fills in, reads back and submits one submission, as a caller does. One that doesn't end by being submitted is
 * cancelled. Throws what went wrong, named by its step.
 */
export async function runProbe(options: ProbeOptions): Promise<ProbeReport> {
  const call = createCalls(options);
  await checkIntake(call, options);
  const steps: ProbeReport["steps"] = [];
  const step = async (name: string, asked: Promise<Answer>): Promise<Answer["body"]> => {
    const answer = await asked.catch((error: Error) => {
      throw new Error(`${name}: ${error.message}`, { cause: error });
    });
    if (answer.status < 200 || answer.status > 299) throw new Error(`${name}: ${inWords(answer)}`);
    steps.push({ name, ms: answer.ms });
    return answer.body;
  };
  return { ...(await play(call, step, options)), steps };
}

type Step = (name: string, asked: Promise<Answer>) => Promise<Answer["body"]>;

async function play(
  call: Call,
  step: Step,
  { intake, fields, key }: ProbeOptions,
): Promise<Omit<ProbeReport, "steps">> {
  const by = key === undefined ? { actor: ACTOR } : {};
  const path = `/intakes/${encodeURIComponent(intake)}/submissions`;
  const fresh = { ...by, idempotencyKey: newKey(), ttlMs: TTL_MS };
  const made = await step("create", call("POST", path, { body: fresh }));
  let token = String(made.resumeToken);
  const submissionId = String(made.submissionId);
  try {
    const set = await step("set", call("PATCH", `/resume/${token}/fields`, { body: { ...by, fields } }));
    token = String(set.resumeToken);
    const read = await step("read", call("GET", `/resume/${token}`));
    if (read.version !== set.version)
      throw new Error(`read: version ${read.version}, although ${set.version} was written`);
    const submitted = await step(
      "submit",
      call("POST", `/resume/${token}/submit`, { body: { ...by, idempotencyKey: newKey() } }),
    );
    token = String(submitted.resumeToken ?? token);
    const state = String(submitted.state);
    if (ENDED.has(state)) return { submissionId, state };
    const cancelled = await step("cancel", call("DELETE", `/resume/${token}`, { body: by }));
    return { submissionId, state: String(cancelled.state) };
  } catch (error) {
    // If this fails too, the submission expires by itself.
    await call("DELETE", `/resume/${token}`, { body: by }).catch(() => {});
    throw error;
  }
}

/** Long enough for a caller without an API key. */
export const newKey = (): string => `probe-${createRandomness().salt()}-${createRandomness().salt()}`;

/** A probe must not send anything to anybody, unless it is told to. */
export async function checkIntake(
  call: Call,
  { intake, deliver }: Pick<ProbeOptions, "intake" | "deliver">,
): Promise<void> {
  const answer = await call("GET", `/intakes/${encodeURIComponent(intake)}`);
  if (answer.status === 404) {
    throw new Error(
      `intake: there is no intake ${intake} for this key. Register examples/probe/probe.json, or name another with --intake and --fields.`,
    );
  }
  if (answer.status === 401) throw new Error(`intake: ${inWords(answer)} Set FORMBRIDGE_PROBE_KEY.`);
  if (answer.status !== 200) throw new Error(`intake: ${inWords(answer)}`);
  if (deliver) return;
  const { destination, approvalGates = [] } = answer.body.intake as {
    destination?: { kind?: string };
    approvalGates?: unknown[];
  };
  const kind = destination?.kind ?? "unknown";
  if (kind !== "store") throw new Error(`intake: ${intake} delivers to a destination (${kind}). ${CHOOSE}`);
  if (approvalGates.length > 0) throw new Error(`intake: ${intake} asks reviewers. ${CHOOSE}`);
}

const CHOOSE = "Name an intake that keeps its submissions and has no gates, or allow it with --deliver.";
