import type { SubmissionRecord } from "@formbridge/contract";
import { useEffect, useRef } from "react";
import type { Reader } from "../shared/language.ts";
import { useLive } from "../shared/live.tsx";
import type { EditingSession } from "./opening.ts";
import { usePlace } from "./place.ts";

/** Saves when the page is hidden or closed, and when the connection is back. */
export function useSavingOnLeave(session: EditingSession, pending: ReadonlySet<() => void>): void {
  useEffect(() => {
    const save = () => {
      for (const flush of [...pending]) flush();
      void session.flush().catch(() => {});
    };
    const onHide = () => document.visibilityState === "hidden" && save();
    document.addEventListener("visibilitychange", onHide);
    window.addEventListener("pagehide", save);
    window.addEventListener("online", save);
    return () => {
      document.removeEventListener("visibilitychange", onHide);
      window.removeEventListener("pagehide", save);
      window.removeEventListener("online", save);
    };
  }, [session, pending]);
}

/** Announces how many answers agents have written since the last time. */
export function useAgentNews(record: SubmissionRecord, me: string | undefined, reader: Reader): void {
  const live = useLive();
  const seen = useRef(record.version);
  useEffect(() => {
    const since = seen.current;
    seen.current = record.version;
    const news = Object.values(record.attribution ?? {}).filter(
      ({ actor, version }) => version > since && actor.kind === "agent" && actor.id !== me,
    );
    if (news.length > 0) live.news(reader.plural("page.news", news.length));
  }, [record, me, reader, live]);
}

/** Reports to the host page or app whenever everything that was typed here is saved. */
export function useReportingSaves(session: EditingSession): void {
  const { tell } = usePlace();
  useEffect(() => {
    let isWaiting = session.state.saving !== "saved";
    return session.subscribe(() => {
      const { saving, record } = session.state;
      const { submissionId, version, missingFields = [] } = record;
      if (isWaiting && saving === "saved") {
        tell({ kind: "saved", submissionId, version, missing: missingFields.length });
      }
      isWaiting = saving !== "saved";
    });
  }, [session, tell]);
}
