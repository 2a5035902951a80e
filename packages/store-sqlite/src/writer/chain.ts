import { hash } from "node:crypto";
import type { ChainHead } from "@formbridge/core";
import type { AuditColumns } from "./flat-change.ts";
import { type RestingTexts, textOf, withEvent } from "./resting-events.ts";

const EMPTY_HEAD: ChainHead = { seq: 0, hash: "0".repeat(64) };

/** A stream that has not begun has no hash. */
export const headColumns = ({ seq, hash: last }: ChainHead): [seq: number, hash: string | null] => [
  seq,
  seq === 0 ? null : last,
];

/** `last` as SQLite's `hex` spells it. */
export const headOf = (seq: number, last: string): ChainHead =>
  seq === 0 ? EMPTY_HEAD : { seq, hash: last.toLowerCase() };

/** Where the streams end that are chained here. */
export interface AuditHeads {
  tokenHead: ChainHead;
  idempotencyHead: ChainHead;
}

/** Puts audit events at the ends of their streams, and adds them to what else is told. Without heads, the streams begin here. */
export function chainAudit(
  audit: readonly AuditColumns[],
  told: RestingTexts,
  heads?: AuditHeads,
): AuditHeads & { events: RestingTexts } {
  let { tokenHead, idempotencyHead } = heads ?? { tokenHead: EMPTY_HEAD, idempotencyHead: EMPTY_HEAD };
  let events = told;
  for (const [before, after, stream, text, digests, said] of audit) {
    const { seq: last, hash: previous } = stream === "token" ? tokenHead : idempotencyHead;
    const seq = last + 1;
    const own = hash("sha256", `${before}${previous}","seq":${seq}${after}`, "hex");
    const head = { seq, hash: own };
    if (stream === "token") tokenHead = head;
    else idempotencyHead = head;
    events = withEvent(events, { events: textOf({ stream, seq }, text), hashes: previous + own + digests, said });
  }
  return { events, tokenHead, idempotencyHead };
}
