import type { ApprovalGate, IntakeDefinition } from "@formbridge/contract";
import type { Loose, Reply, TestServer } from "./harness.ts";
import { created, submit } from "./moves.ts";

let intakes = 0;

/** Registers a new intake with these gates. */
export async function gated(
  server: TestServer,
  approvalGates: ApprovalGate[],
  more: Partial<IntakeDefinition> = {},
): Promise<string> {
  intakes += 1;
  const id = `gates-${intakes}`;
  const reply = await server.putIntake({ id, approvalGates, ...more });
  if (reply.status !== 201) throw new Error(`no intake: ${JSON.stringify(reply.body)}`);
  return id;
}

/** Created, filled in and submitted, by a declared agent unless an API key is given. */
export async function submitted(
  server: TestServer,
  intakeId: string,
  { key, fields = { name: "Ada" } }: { key?: string; fields?: Record<string, unknown> } = {},
): Promise<Loose> {
  const made = await created(server, intakeId, { body: { initialFields: fields }, ...(key && { key }) });
  const reply = await submit(server, made.resumeToken, `submit-${made.submissionId}`, key === undefined ? {} : { key });
  if (reply.status !== 200) throw new Error(`not submitted: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
}

export const reviewerKey = (server: TestServer, id: string, email?: string): Promise<string> =>
  server.makeKey({
    roles: ["reviewer"],
    actor: { kind: "human", id, ...(email !== undefined && { metadata: { email } }) },
  });

export const review = (server: TestServer, id: string, key: string, body: Loose = {}): Promise<Reply> =>
  server.call("POST", `/submissions/${id}/review`, { key, body: { decision: "approved", ...body } });

export const reject = (server: TestServer, id: string, key: string, reason = "no"): Promise<Reply> =>
  review(server, id, key, { decision: "rejected", reasons: [reason] });

/** Runs every job that is due. */
export const drain = async (server: TestServer): Promise<void> => {
  const { jobs } = server.server.worker;
  if (jobs === undefined) throw new Error("this server runs no jobs");
  await jobs.drain();
};

/** Jobs due now run at once; those due later wait for `drain`. */
export const JOBS_BY_HAND = { FORMBRIDGE_WORKER: "on", FORMBRIDGE_JOB_POLL_MS: "3600000" };
