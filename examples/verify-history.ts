/** Verifies a history with nothing but SHA-256. Reads the JSON lines of …/events?stream=all&proof=true from standard input. */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IntakeEvent } from "@formbridge/contract";

const sha256 = (text: string): string => hash("sha256", text, "hex");

/** RFC 8785: sorted names, no whitespace, numbers and strings as JSON.stringify writes them. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}

/** Value and salt are erased together: a value without its salt proves nothing. */
const isRecorded = (value: unknown, salt: string | null, digest: string): boolean =>
  salt === null ? value === null : sha256(salt + canonical(value)) === digest;

/** What is wrong with the first event that doesn't verify, if any. Each stream is its own chain. */
export function firstProblem(events: readonly IntakeEvent[]): string | undefined {
  const ends = new Map<string, { seq: number; hash: string }>();
  for (const { actor, payload, proof, hash: claimed, ...envelope } of events) {
    const { stream, seq, prevHash } = envelope;
    const before = ends.get(stream) ?? { seq: 0, hash: "0".repeat(64) };
    const named = `${stream} event ${seq}`;
    if (proof === undefined) return `${named} has no proof`;
    const { actorSalt, actorDigest, payloadSalt, payloadDigest } = proof;
    if (seq !== before.seq + 1 || prevHash !== before.hash) return `${named} does not follow the one before it`;
    if (sha256(canonical({ ...envelope, actorDigest, payloadDigest })) !== claimed) return `${named} was altered`;
    if (!isRecorded(actor, actorSalt, actorDigest)) return `${named} has another actor`;
    if (!isRecorded(payload, payloadSalt, payloadDigest)) return `${named} has another payload`;
    ends.set(stream, { seq, hash: claimed });
  }
  return undefined;
}

if (import.meta.main) {
  const lines = readFileSync(0, "utf8").trim().split("\n");
  const problem = firstProblem(lines.map((line) => JSON.parse(line) as IntakeEvent));
  process.stdout.write(`${problem ?? `${lines.length} events verified`}\n`);
  process.exitCode = problem === undefined ? 0 : 1;
}
