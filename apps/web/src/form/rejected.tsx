import type { SubmissionRecord } from "@formbridge/contract";
import type { ReactElement } from "react";
import type { ShownIntake } from "../shared/intake-texts.ts";
import { labelOf } from "../shared/labels.ts";
import type { Reader } from "../shared/language.ts";
import { nameOf } from "../shared/names.ts";

interface RejectedProps {
  record: SubmissionRecord;
  intake: ShownIntake;
  reader: Reader;
}

/** What a reviewer asked for, as long as the form has not been submitted again. */
export function Rejected({ record, intake, reader }: RejectedProps): ReactElement | null {
  const last = record.rejections?.at(-1);
  if (last === undefined) return null;
  const { t } = reader;
  const { by, at, reasons, fieldReasons = {} } = last;
  return (
    <section className="pg-card" aria-labelledby="rejected-title">
      <h2 id="rejected-title">{t("rejected.title")}</h2>
      <p className="pg-note">{t("rejected.by", { name: nameOf(by, t), time: reader.time(at) })}</p>
      {reasons.map((reason) => (
        <p key={reason} className="pg-message">
          {reason}
        </p>
      ))}
      {Object.entries(fieldReasons).map(([path, reason]) => (
        <p key={path} className="pg-message">
          <strong>{labelOf(intake, path)}</strong>
          {reason}
        </p>
      ))}
    </section>
  );
}

/** The same at the field that it is about, until somebody has changed it. */
export function FieldReason({ path, record, reader }: Omit<RejectedProps, "intake"> & { path: string }) {
  const last = record.rejections?.at(-1);
  const reason = last?.fieldReasons?.[path];
  const isChanged = (record.attribution?.[path]?.version ?? 0) > (last?.version ?? 0);
  return reason === undefined || isChanged ? null : (
    <p className="fb-conflict">{reader.t("rejected.field", { reason })}</p>
  );
}
