import type { FieldError, SubmissionRecord } from "@formbridge/contract";
import { wordsFor } from "@formbridge/form";
import { type ReactElement, type Ref, useEffect, useState } from "react";
import type { ShownIntake } from "../shared/intake-texts.ts";
import { labelOf } from "../shared/labels.ts";
import type { Reader } from "../shared/language.ts";
import { nameOf } from "../shared/names.ts";
import { isInStep, type Steps } from "./navigation.ts";
import type { Opened } from "./opening.ts";

interface HeadProps {
  intake: ShownIntake;
  /** What the hand-off says, and who made it. */
  handoff: Opened["handoff"];
  hint: string | undefined;
  t: Reader["t"];
}

/** What this form is, who asks, and what they said. */
export function Head({ intake, handoff, hint, t }: HeadProps): ReactElement {
  const { from, message } = handoff ?? {};
  return (
    <section className="pg-intro">
      <h1>{intake.name}</h1>
      {intake.description !== undefined && <p className="pg-lead">{intake.description}</p>}
      {message !== undefined && (
        <blockquote className="pg-message">
          {from !== undefined && <strong>{t("page.from", { name: nameOf(from, t) })}</strong>}
          {message}
        </blockquote>
      )}
      {hint !== undefined && <p className="pg-message">{hint}</p>}
    </section>
  );
}

interface SummaryProps {
  errors: readonly FieldError[];
  intake: ShownIntake;
  reader: Reader;
  goTo(path: string): void;
  place: Ref<HTMLElement>;
}

/** After a check that failed: everything that needs another look, with a way to each. */
export function ErrorSummary({ errors, intake, reader, goTo, place }: SummaryProps): ReactElement | null {
  if (errors.length === 0) return null;
  return (
    <section className="pg-summary" ref={place} tabIndex={-1} aria-labelledby="pg-errors">
      <h2 id="pg-errors">{reader.plural("page.errors", errors.length)}</h2>
      <ul>
        {errors.map((error) => (
          <li key={`${error.path} ${error.code}`}>
            <FieldLink label={labelOf(intake, error.path)} go={() => goTo(error.path)} />: {wordsFor(error, reader.t)}
          </li>
        ))}
      </ul>
    </section>
  );
}

const FieldLink = ({ label, go }: { label: string; go(): void }): ReactElement => (
  <button type="button" className="pg-link" onClick={go}>
    {label}
  </button>
);

interface StepsProps {
  steps: Steps;
  step: number;
  missing: readonly string[];
  reader: Reader;
  onStep(step: number): void;
}

/** The steps of the form; each can be opened at any time, because nothing is lost by leaving one. */
export function StepList({ steps, step, missing, reader, onStep }: StepsProps): ReactElement {
  const { t } = reader;
  return (
    <nav className="pg-steps" aria-label={t("page.steps")}>
      <ol>
        {steps.map(({ id, title, fields }, index) => {
          const count = missing.filter((path) => isInStep(fields, path)).length;
          return (
            <li key={id}>
              <button
                type="button"
                className="pg-step"
                aria-current={index === step ? "step" : undefined}
                data-done={count === 0 ? "" : undefined}
                onClick={() => onStep(index)}
              >
                <span className="pg-step-number" aria-hidden="true">
                  {count === 0 ? "✓" : index + 1}
                </span>
                <span className="pg-step-title">{title}</span>
                {count > 0 && <span className="fb-sr">{reader.plural("page.missing", count)}</span>}
              </button>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

const RECENT_MS = 60_000;

/** The agent wrote a moment ago. Counted from when we heard of it: the clocks may differ. */
export function AgentAtWork({ record, t }: { record: SubmissionRecord; t: Reader["t"] }): ReactElement | null {
  const latest = record.recentActivity?.byAgent;
  const [overAt, setOverAt] = useState<string | undefined>(undefined);
  const at = latest?.at;
  useEffect(() => {
    if (at === undefined) return undefined;
    const timer = setTimeout(() => setOverAt(at), RECENT_MS);
    return () => clearTimeout(timer);
  }, [at]);
  if (latest === undefined || overAt === at) return null;
  return <p className="pg-agent">{t("page.agentWorking", { name: nameOf(latest.actor, t) })}</p>;
}
