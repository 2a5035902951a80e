import type { Submission } from "@formbridge/client";
import type { IntakeEvent } from "@formbridge/contract";
import { useFormState } from "@formbridge/form";
import { type ReactElement, useEffect, useMemo, useRef, useState } from "react";
import { translated } from "../shared/intake-texts.ts";
import type { Reader } from "../shared/language.ts";
import { useLive } from "../shared/live.tsx";
import { rowsOf, Values } from "../shared/values.tsx";
import type { Opened } from "./opening.ts";
import { usePlace } from "./place.ts";

/** A form that is sent back and submitted again has several. */
async function lastSubmit(submission: Submission): Promise<IntakeEvent | undefined> {
  let found: IntakeEvent | undefined;
  let after: string | undefined;
  do {
    const page = await submission.events({ limit: 1000, ...(after !== undefined && { afterEventId: after }) });
    found = page.events.findLast(({ type }) => type === "submission.submitted") ?? found;
    after = page.hasMore ? page.nextEventId : undefined;
  } while (after !== undefined);
  return found;
}

/** After the submit: what was sent, what happens to it, and how to verify that it isn't changed. */
export function Receipt({ opened, reader }: { opened: Opened; reader: Reader }): ReactElement {
  const { session } = opened;
  const { t } = reader;
  const { isPage } = usePlace();
  const { record } = useFormState(session);
  const intake = useMemo(() => translated(opened.intake, reader.locale), [opened.intake, reader.locale]);
  const [proof, setProof] = useState<IntakeEvent | undefined>(undefined);
  useEffect(() => {
    lastSubmit(session.submission).then(setProof, () => {});
  }, [session]);
  const what =
    record.state === "finalized"
      ? "receipt.finalized"
      : record.state === "needs_review"
        ? "receipt.waiting"
        : "receipt.delivering";
  const live = useLive();
  const said = useRef(what);
  useEffect(() => {
    live.status("");
    if (said.current !== what) live.news(t(what));
    said.current = what;
  }, [live, t, what]);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section className="pg-card">
      <h1 ref={heading} tabIndex={-1}>
        {t("receipt.title")}
      </h1>
      <p className="pg-lead">{t(what)}</p>
      <dl className="pg-values">
        <div>
          <dt>{t("receipt.number")}</dt>
          <dd className="pg-hash">{record.submissionId}</dd>
        </div>
        {record.submittedAt !== undefined && (
          <div>
            <dt>{t("receipt.time")}</dt>
            <dd>{reader.time(record.submittedAt)}</dd>
          </div>
        )}
        {proof !== undefined && (
          <div>
            <dt>{t("receipt.hash")}</dt>
            <dd>
              <span className="pg-hash">{proof.hash}</span>
              <span className="pg-note">{t("receipt.hashText")}</span>
            </dd>
          </div>
        )}
      </dl>
      <h2>{t("receipt.sent")}</h2>
      <Values rows={rowsOf(record.fields ?? {}, intake, reader)} />
      {isPage && (
        <div className="pg-actions">
          <button type="button" className="fb-button" onClick={() => window.print()}>
            {t("receipt.print")}
          </button>
        </div>
      )}
    </section>
  );
}
