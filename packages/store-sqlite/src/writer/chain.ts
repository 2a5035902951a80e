import { hash } from "node:crypto";
import type { ChainHead } from "@formbridge/core";
import { eventText } from "./event-text.ts";
import type { AuditColumns } from "./flat-change.ts";

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

/** Puts audit events at the ends of their streams, and answers their texts. Without heads, the streams begin here. */
export function chainAudit(audit: readonly AuditColumns[], heads?: AuditHeads): AuditHeads & { texts: string[] } {
  let { tokenHead, idempotencyHead } = heads ?? { tokenHead: EMPTY_HEAD, idempotencyHead: EMPTY_HEAD };
  const texts = audit.map(([before, after, stream, told]) => {
    const { seq: last, hash: prevHash } = stream === "token" ? tokenHead : idempotencyHead;
    const seq = last + 1;
    const own = hash("sha256", `${before}${prevHash}","seq":${seq}${after}`, "hex");
    const head = { seq, hash: own };
    if (stream === "token") tokenHead = head;
    else idempotencyHead = head;
    return eventText({ stream, seq, prevHash, hash: own }, told);
  });
  return { texts, tokenHead, idempotencyHead };
}
