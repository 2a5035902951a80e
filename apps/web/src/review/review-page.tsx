import type { Decision } from "@formbridge/client";
import type { IntakeEvent, ReviewResponse } from "@formbridge/contract";
import { type ReactElement, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { RETRIED } from "../shared/any-problem.ts";
import { Frame } from "../shared/frame.tsx";
import { type ShownIntake, translated } from "../shared/intake-texts.ts";
import { sectionsOf, treeOf } from "../shared/values.tsx";
import { Answers } from "./answers.tsx";
import { changesSince } from "./changes.ts";
import { ApproveDialog, DecisionBar, type Mode, SendBack } from "./decision.tsx";
import { Done } from "./done.tsx";
import { useFileLinks } from "./file-links.tsx";
import { GateProgress } from "./gate.tsx";
import { History } from "./history.tsx";
import type { Reader } from "./language.ts";
import { type Problem, ProblemView, problemOf } from "./problem.tsx";
import { SentBack } from "./sent-back.tsx";
import type { Reviewable, ReviewSource } from "./source.ts";

interface Loaded {
  /** A different number for each load. */
  look: number;
  seen: Reviewable;
  events: readonly IntakeEvent[];
}

type View =
  | { kind: "loading" }
  | { kind: "problem"; problem: Problem }
  | { kind: "review"; loaded: Loaded }
  | { kind: "done"; seen: Reviewable; answer: ReviewResponse };

interface PageProps {
  source: ReviewSource;
  reader: Reader;
  /** Back to the queue, for reviewers who have one. */
  onLeave?: () => void;
}

/** One review, from the first look to the decision. */
export function ReviewPage({ source, reader, onLeave }: PageProps): ReactElement {
  const { t } = reader;
  const [view, setView] = useState<View>({ kind: "loading" });
  const [isOutdated, setOutdated] = useState(false);
  const looks = useRef(0);
  const load = useCallback(async () => {
    try {
      const [seen, events] = await Promise.all([source.load(), source.history()]);
      looks.current += 1;
      setView({ kind: "review", loaded: { look: looks.current, seen, events } });
    } catch (error) {
      setView({ kind: "problem", problem: problemOf(error) });
    }
  }, [source]);
  useEffect(() => void load(), [load]);

  /** False: it failed, and may be tried again. */
  async function decide(verdict: Decision, seen: Reviewable): Promise<boolean> {
    try {
      setView({ kind: "done", seen, answer: await source.decide(verdict, seen) });
      return true;
    } catch (error) {
      if (RETRIED.includes(problemOf(error))) return false;
      // Loading again shows either what is new, or why there is nothing left to decide.
      setOutdated(true);
      await load();
      return true;
    }
  }

  const leave = onLeave !== undefined && (
    <p>
      <button type="button" className="fb-button fb-quiet rv-leave" onClick={onLeave}>
        {t("done.queue")}
      </button>
    </p>
  );
  switch (view.kind) {
    case "loading":
      return (
        <Frame>
          <p role="status">{t("page.loading")}</p>
        </Frame>
      );
    case "problem":
      return (
        <Frame>
          <ProblemView problem={view.problem} reader={reader} onRetry={() => void load()} />
          {leave}
        </Frame>
      );
    case "done":
      return (
        <Frame intake={view.seen.intake}>
          <Done {...view} reader={reader} />
          {leave}
        </Frame>
      );
    case "review": {
      const { loaded } = view;
      return (
        <Frame intake={loaded.seen.intake}>
          {leave}
          {isOutdated && (
            <p className="pg-notice" role="alert">
              {t("decide.outdated")}
            </p>
          )}
          <Review
            key={loaded.look}
            {...loaded}
            source={source}
            reader={reader}
            decide={(verdict) => decide(verdict, loaded.seen)}
          />
        </Frame>
      );
    }
  }
}

interface ReviewProps extends Loaded {
  source: ReviewSource;
  reader: Reader;
  /** False: it failed, and may be tried again. */
  decide(verdict: Decision): Promise<boolean>;
}

function Review({ source, seen, events, reader, decide }: ReviewProps): ReactElement {
  const { t } = reader;
  const { record, link, barred } = seen;
  const intake: ShownIntake = useMemo(() => translated(seen.intake, reader.locale), [seen.intake, reader.locale]);
  const tree = useMemo(
    () => treeOf(record.fields ?? {}, intake, { t: (id) => t(id), empty: true }),
    [record, intake, t],
  );
  const sections = useMemo(() => sectionsOf(tree, intake), [tree, intake]);
  const changes = useMemo(() => changesSince(record, events), [record, events]);
  const [mode, setMode] = useState<Mode>("look");
  const [notes, setNotes] = useState<Record<string, string>>({});
  const [message, setMessage] = useState("");
  const [status, setStatus] = useState("");
  const isBusy = useRef(false);
  const links = useFileLinks(source, {
    files: record.files ?? [],
    onFailed: (error) => setStatus(t(`problem.${problemOf(error)}.title`)),
  });

  async function send(verdict: Decision): Promise<void> {
    if (isBusy.current) return;
    isBusy.current = true;
    setStatus(t("decide.sending"));
    const isSent = await decide(verdict);
    isBusy.current = false;
    if (!isSent) setStatus(t("decide.failed"));
  }

  function sendBack(): void {
    const written = Object.entries(notes).filter(([, note]) => note.trim() !== "");
    const hasMessage = message.trim() !== "";
    if (!hasMessage && (mode === "reject" || written.length === 0)) {
      setStatus(t(mode === "reject" ? "decide.needsMessage" : "decide.needsReason"));
      document.getElementById("message")?.focus();
      return;
    }
    void send({
      decision: "rejected",
      ...(hasMessage && { reasons: [message.trim()] }),
      ...(written.length > 0 && {
        fieldReasons: Object.fromEntries(written.map(([path, note]) => [path, note.trim()])),
      }),
    });
  }

  function change(next: Mode): void {
    setMode(next);
    setStatus("");
  }

  const isWriting = mode === "changes" || mode === "reject";
  return (
    <>
      <section className="pg-card">
        <h1>{intake.name}</h1>
        {intake.description !== undefined && <p className="pg-lead">{intake.description}</p>}
        <p className="pg-note">
          {record.submittedAt !== undefined && t("page.submitted", { time: reader.time(record.submittedAt) })}
          {record.submittedAt !== undefined && link !== undefined && " · "}
          {link !== undefined && t("page.reviewer", { name: link.reviewer })}{" "}
          {link !== undefined && t("page.linkUntil", { time: reader.time(link.expiresAt) })}
        </p>
        {barred !== undefined && <p className="pg-notice">{t(`barred.${barred}`)}</p>}
        <GateProgress record={record} reader={reader} />
      </section>
      {changes !== undefined && <SentBack changes={changes} tree={tree} intake={intake} reader={reader} />}
      <Answers
        sections={sections}
        record={record}
        changes={changes}
        links={links}
        reader={reader}
        {...(isWriting && {
          notes,
          onNote: (path: string, note: string | undefined) =>
            setNotes(({ [path]: _before, ...others }) => (note === undefined ? others : { ...others, [path]: note })),
        })}
      />
      {isWriting && <SendBack mode={mode} message={message} onMessage={setMessage} reader={reader} />}
      <History events={events} intake={intake} reader={reader} />
      {barred === undefined && (
        <DecisionBar
          mode={mode}
          notes={Object.values(notes).filter((note) => note.trim() !== "").length}
          status={status}
          reader={reader}
          onMode={change}
          onSendBack={sendBack}
        />
      )}
      {mode === "approve" && (
        <ApproveDialog
          reader={reader}
          status={status}
          onClose={() => change("look")}
          onApprove={(comment) => void send({ decision: "approved", ...(comment !== "" && { comment }) })}
        />
      )}
    </>
  );
}
