import type { SubmissionRecord } from "@formbridge/contract";
import type { ReactElement } from "react";
import { nameOf } from "../shared/names.ts";
import type { Reader } from "./language.ts";

/** How far the gate is, and who has approved. */
export function GateProgress({ record, reader }: { record: SubmissionRecord; reader: Reader }): ReactElement | null {
  const { reviewState } = record;
  if (reviewState === undefined) return null;
  const { t } = reader;
  const { gate, gateLabel = gate, approvals, requiredApprovals: required, requestedAt, escalatedAt } = reviewState;
  return (
    <div className="rv-gate">
      <h2>{t("gate.title", { gate: gateLabel })}</h2>
      <p>
        <strong>{t("gate.progress", { count: approvals.length, required })}</strong>
        <span className="pg-note"> {t("gate.since", { time: reader.time(requestedAt) })}</span>
      </p>
      {escalatedAt !== undefined && (
        <p className="pg-notice">{t("gate.escalated", { time: reader.time(escalatedAt) })}</p>
      )}
      {approvals.length === 0 ? (
        <p className="pg-note">{t("gate.nobody")}</p>
      ) : (
        <ul className="rv-approvals">
          {approvals.map(({ by, at, comment }) => (
            <li key={at + by.id}>
              {t("gate.approved", { name: nameOf(by, t), time: reader.time(at) })}
              {comment !== undefined && <blockquote className="pg-message">{comment}</blockquote>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
