import type { FieldError } from "@formbridge/contract";
import { useFormState } from "@formbridge/form";
import { type ReactElement, useLayoutEffect, useMemo, useRef, useState } from "react";
import { translated } from "../shared/intake-texts.ts";
import { labelOf } from "../shared/labels.ts";
import type { Reader } from "../shared/language.ts";
import { useLive } from "../shared/live.tsx";
import { inWords } from "../shared/values.tsx";
import { type Action, Bar } from "./bar.tsx";
import { CheckAnswers } from "./check-answers.tsx";
import { Fields } from "./fields.tsx";
import { LaterDialog } from "./later.tsx";
import { afterDrawing, type Navigation, type Steps, useNavigation } from "./navigation.ts";
import type { Opened } from "./opening.ts";
import { AgentAtWork, ErrorSummary, Head } from "./overview.tsx";
import { useOwnLink } from "./own-link.ts";
import { usePlace } from "./place.ts";
import { ProblemView, problemOf, wayOn } from "./problem.tsx";
import { Rejected } from "./rejected.tsx";
import { type Sending, useSending } from "./sending.ts";
import { useAgentNews, useReportingSaves, useSavingOnLeave } from "./session-effects.ts";

const NO_ERRORS: readonly FieldError[] = [];
const NO_STEPS: Steps = [];
/** A field that nobody has filled in yet is missing, not wrong. */
const isAbsence = ({ code }: FieldError): boolean => code === "required" || code === "file_required";

type View = "form" | "check" | "later";

interface EditorProps {
  opened: Opened;
  reader: Reader;
  hint: string | undefined;
}

/** The form itself: what is missing, the fields, and a bar that says whether everything is saved. */
export function Editor({ opened, reader, hint }: EditorProps): ReactElement {
  const { session, handoff } = opened;
  const { t } = reader;
  const { isPage, showsSteps } = usePlace();
  const live = useLive();
  const state = useFormState(session);
  const { record, saving } = state;
  const intake = useMemo(() => translated(opened.intake, reader.locale), [opened.intake, reader.locale]);
  const steps = (showsSteps && intake.uiHints?.steps) || NO_STEPS;
  const pending = useRef(new Set<() => void>()).current;
  const [view, setView] = useState<View>("form");
  const [isAsked, setAsked] = useState(false);
  const ownLink = useOwnLink(opened);
  const summary = useRef<HTMLElement>(null);
  const navigation = useNavigation(steps, () => setView("form"));
  const sending = useSending({
    opened,
    reader,
    pending,
    onChecked: () => setView("check"),
    onConflict: navigation.goTo,
    onRefused() {
      setAsked(true);
      setView("form");
      afterDrawing(() => summary.current?.focus());
    },
  });
  const { validationErrors = NO_ERRORS, missingFields = [] } = record;
  const errors = useMemo(() => [...validationErrors, ...state.refused], [validationErrors, state.refused]);
  const shownErrors = isAsked ? errors : errors.filter((error) => !isAbsence(error));

  useSavingOnLeave(session, pending);
  useReportingSaves(session);
  // Announce it at once: after the first letter, the bar must not say "saved" any more.
  useLayoutEffect(() => live.status(t(`page.${saving}`), saving === "offline"), [live, t, saving]);
  useAgentNews(record, handoff?.actor.id, reader);

  if (state.ended !== undefined) {
    const unsaved = Object.entries(session.unsaved()).map(
      ([path, value]) => `${labelOf(intake, path)}: ${inWords(value, reader)}`,
    );
    return <ProblemView problem={problemOf(state.ended)} reader={reader} unsaved={unsaved.join("\n")} />;
  }
  const others: Action[] = [];
  if (view !== "check" && isPage) others.push({ label: t("page.later"), run: () => setView("later") });
  if (view !== "check" && handoff !== undefined && missingFields.length > 0)
    others.push({ label: t("page.done"), run: () => sending.finishPart(handoff.handoffId) });
  return (
    <>
      <Head intake={intake} handoff={handoff} hint={hint} t={t} />
      <Rejected record={record} intake={intake} reader={reader} />
      <AgentAtWork record={record} t={t} />
      <Outcome sending={sending} t={t} />
      {view === "check" ? (
        <CheckAnswers fields={state.fields} intake={intake} reader={reader} goTo={navigation.goTo} />
      ) : (
        <>
          {isAsked && (
            <ErrorSummary errors={shownErrors} intake={intake} reader={reader} goTo={navigation.goTo} place={summary} />
          )}
          <Fields
            opened={opened}
            intake={intake}
            state={state}
            errors={shownErrors}
            steps={steps}
            navigation={navigation}
            pending={pending}
            reader={reader}
          />
        </>
      )}
      <Bar
        saving={saving}
        isHeld={state.conflicts.length > 0}
        reader={reader}
        isBusy={sending.isBusy}
        others={others}
        {...waysOn({ view, steps, navigation, sending, t, onBack: () => setView("form") })}
      />
      {view === "later" && <LaterDialog link={ownLink} reader={reader} onClose={() => setView("form")} />}
    </>
  );
}

/** The outcome of the last button: thanks, or why it failed. */
function Outcome({ sending: { isDone, refusal }, t }: { sending: Sending; t: Reader["t"] }): ReactElement {
  return (
    <>
      {isDone && <p className="pg-notice">{t("page.doneThanks")}</p>}
      {refusal !== undefined && (
        <p className="pg-notice">
          <strong>{t("page.notSent")}</strong> {t(`problem.${refusal}.title`)}. {t(wayOn(refusal))}
        </p>
      )}
    </>
  );
}

interface Ways {
  view: View;
  steps: Steps;
  navigation: Navigation;
  sending: Sending;
  t: Reader["t"];
  onBack(): void;
}

/** The buttons for the next step and the previous one. */
function waysOn({ view, steps, navigation, sending, t, onBack }: Ways): { primary: Action; back?: Action } {
  const { step, openStep } = navigation;
  if (view === "check") {
    return { primary: { label: t("page.submit"), run: sending.submit }, back: { label: t("page.back"), run: onBack } };
  }
  const isLast = step >= steps.length - 1;
  return {
    primary: isLast
      ? { label: t("page.review"), run: sending.check }
      : { label: t("page.next"), run: () => openStep(step + 1) },
    ...(step > 0 && { back: { label: t("page.previous"), run: () => openStep(step - 1) } }),
  };
}
