import type { FieldError } from "@formbridge/contract";
import { type FormState, SchemaForm, useFiles } from "@formbridge/form";
import { type ReactElement, useCallback } from "react";
import type { ShownIntake } from "../shared/intake-texts.ts";
import type { Reader } from "../shared/language.ts";
import type { Navigation, Steps } from "./navigation.ts";
import { FieldNote } from "./notes.tsx";
import type { Opened } from "./opening.ts";
import { StepList } from "./overview.tsx";
import { FieldReason } from "./rejected.tsx";

interface FieldsProps {
  opened: Opened;
  intake: ShownIntake;
  state: FormState;
  errors: readonly FieldError[];
  steps: Steps;
  navigation: Navigation;
  pending: Set<() => void>;
  reader: Reader;
}

/** What is missing, the steps, and the fields of the step that is open. */
export function Fields(props: FieldsProps): ReactElement {
  const { opened, intake, state, errors, steps, navigation, pending, reader } = props;
  const { session } = opened;
  const { record } = state;
  const { missingFields = [] } = record;
  const files = useFiles(session);
  const step = steps[navigation.step];
  const note = useNote(props);
  return (
    <>
      <Missing missing={missingFields} reader={reader} onNext={() => navigation.goToNextMissing(missingFields)} />
      {steps.length > 0 && (
        <StepList
          steps={steps}
          step={navigation.step}
          missing={missingFields}
          reader={reader}
          onStep={navigation.openStep}
        />
      )}
      <section className="pg-card" ref={navigation.place} tabIndex={-1} aria-label={step?.title ?? intake.name}>
        {step !== undefined && <StepHead number={navigation.step + 1} count={steps.length} step={step} t={reader.t} />}
        <SchemaForm
          schema={intake.schema}
          fields={state.fields}
          errors={errors}
          translate={reader.t}
          files={files}
          pending={pending}
          {...(intake.uiHints?.fieldHints && { fieldHints: intake.uiHints.fieldHints })}
          {...(step && { only: step.fields })}
          note={note}
          onTyping={(began) => session.begin(began)}
          onListFocus={(list) => session.focus(list)}
          onChange={(changes) => session.edit(changes)}
        />
      </section>
    </>
  );
}

const NO_CONFLICTS: FormState["conflicts"] = [];

/** What stands below a field. The same function until there is something new to say: every field draws it again. */
function useNote({ opened, state, reader }: FieldsProps): (path: string) => ReactElement {
  const { session, handoff } = opened;
  const { record } = state;
  const conflicts = state.conflicts.length === 0 ? NO_CONFLICTS : state.conflicts;
  const me = handoff?.actor.id;
  return useCallback(
    (path) => (
      <>
        <FieldReason path={path} record={record} reader={reader} />
        <FieldNote path={path} record={record} conflicts={conflicts} me={me} session={session} reader={reader} />
      </>
    ),
    [record, conflicts, me, session, reader],
  );
}

interface MissingProps {
  missing: readonly string[];
  reader: Reader;
  onNext(): void;
}

function Missing({ missing: { length }, reader, onNext }: MissingProps): ReactElement {
  return (
    <div className="pg-status" data-complete={length === 0 ? "" : undefined}>
      <p>{length > 0 ? reader.plural("page.missing", length) : reader.t("page.complete")}</p>
      {length > 0 && (
        <button type="button" className="fb-button fb-quiet" onClick={onNext}>
          {reader.t("page.nextMissing")}
        </button>
      )}
    </div>
  );
}

interface StepHeadProps {
  number: number;
  count: number;
  step: Steps[number];
  t: Reader["t"];
}

function StepHead({ number, count, step, t }: StepHeadProps): ReactElement {
  return (
    <header>
      <h2>{t("page.step", { number, count, title: step.title })}</h2>
      {step.description !== undefined && <p className="pg-lead">{step.description}</p>}
    </header>
  );
}
