import type { IntakeEvent } from "@formbridge/contract";
import type { ReactElement } from "react";
import type { ShownIntake } from "../shared/intake-texts.ts";
import { labelOf } from "../shared/labels.ts";
import { nameOf } from "../shared/names.ts";
import type { Reader } from "./language.ts";

interface HistoryProps {
  events: readonly IntakeEvent[];
  intake: ShownIntake;
  reader: Reader;
}

const MAX_NAMED = 8;

/** What happened, oldest first, in words. Technical events are left out. */
export function History({ events, intake, reader }: HistoryProps): ReactElement {
  const { t } = reader;
  const told = events.flatMap((event) => {
    const what = inWords(event, intake, reader);
    return what === undefined ? [] : [{ event, ...what }];
  });
  return (
    <details className="pg-card">
      <summary>
        <h2>{t("history.title")}</h2>
      </summary>
      <ol className="rv-history">
        {told.map(({ event: { eventId, actor, ts }, text, said = [] }) => (
          <li key={eventId}>
            <span className="rv-text">{text}</span>
            {said.map((words) => (
              <blockquote key={words} className="pg-message">
                {words}
              </blockquote>
            ))}
            <span className="pg-note">
              {t("history.by", {
                name: actor === null || actor.kind === "system" ? t("history.system") : nameOf(actor, t),
                time: reader.time(ts),
              })}
            </span>
          </li>
        ))}
      </ol>
    </details>
  );
}

interface Told {
  text: string;
  /** What somebody wrote. */
  said?: string[];
}

function inWords({ type, payload: kept }: IntakeEvent, intake: ShownIntake, { t }: Reader): Told | undefined {
  const payload = kept ?? {};
  const text = (name: string): string => String(payload[name] ?? "");
  const gate = text("gate");
  switch (type) {
    case "submission.created":
      return { text: t("history.created") };
    case "field.updated": {
      const { fields = {}, removed = [] } = payload as { fields?: object; removed?: string[] };
      const names = [...Object.keys(fields), ...removed].map((path) => labelOf(intake, path));
      const shown = names.length > MAX_NAMED ? [...names.slice(0, MAX_NAMED), "…"] : names;
      return { text: t("history.updated", { fields: shown.join(", ") }) };
    }
    case "upload.completed":
      return { text: t("history.uploaded", { name: text("filename") }) };
    case "submission.submitted":
      return { text: t("history.submitted") };
    case "review.requested":
      return { text: t("history.requested", { gate }) };
    case "review.approved":
      return {
        text: t(payload.auto === true ? "history.auto" : "history.approved", { gate }),
        ...(payload.comment !== undefined && { said: [text("comment")] }),
      };
    case "review.rejected": {
      const { reasons = [], fieldReasons = {} } = payload as {
        reasons?: string[];
        fieldReasons?: Record<string, string>;
      };
      const ofFields = Object.entries(fieldReasons).map(([path, reason]) => `${labelOf(intake, path)}: ${reason}`);
      return { text: t("history.rejected", { gate }), said: [...reasons, ...ofFields] };
    }
    case "review.escalated":
      return { text: t("history.escalated", { gate }) };
    case "review.reassigned":
      return { text: t("history.reassigned", { gate }), said: [text("reason")] };
    case "handoff.link_issued":
      return { text: t("history.handoff") };
    case "handoff.completed":
      return { text: t("history.handoffDone") };
    default:
      return undefined;
  }
}
