import { hash as digest } from "node:crypto";
import type { ChainedEvent } from "@formbridge/core";

const sha256 = (text: string): string => digest("sha256", text, "hex");

/** Canonical JSON for the values that occur here, written again so that our code doesn't check itself. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`);
  return `{${members.join(",")}}`;
}

/** Equal as JSON, whatever the order of members; mostly they come in the same one. */
export const sameJson = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other) || canonical(one) === canonical(other);

/** CONTRACT §13: what a hash covers. Returns the first problem as a message, or nothing. */
export function problemInChain(events: readonly ChainedEvent[]): string | undefined {
  const heads = new Map<string, { seq: number; hash: string }>();
  for (const event of events) {
    const head = heads.get(event.stream) ?? { seq: 0, hash: "0".repeat(64) };
    const { eventId, seq, stream, type, submissionId, ts, state, version, prevHash, hash } = event;
    if (seq !== head.seq + 1) return `${stream} goes from seq ${head.seq} to ${seq}`;
    if (prevHash !== head.hash) return `${stream} ${seq} does not name the hash before it`;
    const actorDigest = sha256(event.actorSalt + canonical(event.actor));
    const payloadDigest = sha256(event.payloadSalt + canonical(event.payload));
    const covered = {
      eventId,
      seq,
      stream,
      type,
      submissionId,
      ts,
      state,
      version,
      actorDigest,
      payloadDigest,
      prevHash,
    };
    if (hash !== sha256(canonical(covered))) return `${stream} ${seq} (${type}) has a hash that does not cover it`;
    heads.set(stream, { seq, hash });
  }
  return undefined;
}
