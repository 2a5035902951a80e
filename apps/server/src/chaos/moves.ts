import { type Answer, inWords } from "../probe/calls.ts";
import { newKey } from "../probe/run-probe.ts";
import { isGood, persist, type Scene } from "./fault.ts";
import type { Entry } from "./ledger.ts";

/** If the run is interrupted, what it left open expires by itself. */
const TTL_MS = 600_000;

export const createPath = ({ intake }: Scene): string => `/intakes/${encodeURIComponent(intake)}/submissions`;

export const createBody = ({ field }: Scene, text: string, idempotencyKey: string): object => ({
  initialFields: { [field]: text },
  idempotencyKey,
  ttlMs: TTL_MS,
});

export const setPath = ({ token }: Pick<Entry, "token">): string => `/resume/${token}/fields`;

export const setBody = ({ field }: Scene, text: string, idempotencyKey: string): object => ({
  fields: { [field]: text },
  idempotencyKey,
});

/** Records an acknowledged create. */
export function enter({ ledger }: Scene, { body }: Answer, text: string): Entry {
  const entry = {
    submissionId: String(body.submissionId),
    token: String(body.resumeToken),
    version: Number(body.version),
    text,
  };
  ledger.entries.push(entry);
  return entry;
}

/** Records an acknowledged write. */
export function follow(entry: Entry, { body }: Answer, text = entry.text): void {
  entry.text = text;
  entry.version = Number(body.version);
  entry.token = String(body.resumeToken ?? entry.token);
}

/** A submission for a fault to work on. */
export async function start(scene: Scene, name: string): Promise<Entry> {
  const text = `${scene.run} ${name}`;
  const body = createBody(scene, text, newKey());
  const made = await persist(() => scene.call("POST", createPath(scene), { body }));
  if (!isGood(made)) throw new Error(`a submission could not be created: ${inWords(made)}`);
  return enter(scene, made, text);
}
