import { FormBridgeError, newIdempotencyKey, type Submission } from "@formbridge/client";
import type { FieldError, SubmissionRecord, SubmitResponse } from "@formbridge/contract";
import { EDITABLE_STATES } from "@formbridge/contract/editable-states";
import { type ReactElement, useEffect, useMemo, useReducer, useRef, useState, useSyncExternalStore } from "react";
import type { FormFiles } from "./form-context.ts";
import { SchemaForm } from "./schema-form.tsx";
import type { FormSession } from "./session/form-session.ts";
import type { EditStorage, FormState } from "./session/form-state.ts";
import { type OpenedForm, openFormSession } from "./session/open-form-session.ts";
import { saveAll } from "./session/save-all.ts";
import { Uploads } from "./session/uploads.ts";
import { inEnglish, type Translate } from "./texts.ts";
import { ConflictChoice } from "./theme/conflict-choice.tsx";

export interface FormBridgeFormProps {
  /** Opened by token, session or key. A different one opens the form again. */
  submission: Submission;
  /** Draw these fields only, by dotted path: one step of several. */
  only?: readonly string[];
  translate?: Translate;
  /** Keeps what was typed and not saved over a reload; `createTabStorage` makes one. */
  storage?: EditStorage;
  /** Everything that was typed is saved. */
  onSaved?(record: SubmissionRecord): void;
  /** It was submitted. */
  onSubmitted?(answer: SubmitResponse): void;
  /** It could not be submitted: these fields are missing or wrong, which the form shows at each of them. */
  onRefused?(fields: readonly FieldError[]): void;
  /** It could not be opened, saved or submitted. */
  onError?(error: FormBridgeError): void;
}

/** The form of a submission: prefilled, saved as people type, together with agents and other people. */
export function FormBridgeForm(props: FormBridgeFormProps): ReactElement {
  const { submission, storage, translate: t = inEnglish } = props;
  const newest = useRef(props);
  newest.current = props;
  const [opened, setOpened] = useState<OpenedForm | undefined>(undefined);
  useEffect(() => {
    let isGone = false;
    const opening = openFormSession(submission, storage === undefined ? {} : { storage });
    opening.then(
      (form) => !isGone && setOpened(form),
      (error: unknown) => !isGone && newest.current.onError?.(known(error)),
    );
    return () => {
      isGone = true;
      setOpened(undefined);
      opening.then(
        ({ session }) => session.close(),
        () => {},
      );
    };
  }, [submission, storage]);
  if (opened === undefined) return <p role="status">{t("page.loading")}</p>;
  return <OpenForm {...props} {...opened} />;
}

const EDITABLE: ReadonlySet<string> = new Set(EDITABLE_STATES);
const NO_ERRORS: readonly FieldError[] = [];

function OpenForm(props: FormBridgeFormProps & OpenedForm): ReactElement {
  const { session, intake, only, translate: t = inEnglish } = props;
  const state = useFormState(session);
  const { record, conflicts } = state;
  const pending = useRef(new Set<() => void>()).current;
  const files = useFiles(session);
  const [isAsked, setAsked] = useState(false);
  const { isBusy, submit } = useSubmit(props, pending, () => setAsked(true));
  useReports(props);
  const { validationErrors = NO_ERRORS } = record;
  const errors = useMemo(() => {
    const all = [...validationErrors, ...state.refused];
    return isAsked ? all : all.filter(({ code }) => code !== "required" && code !== "file_required");
  }, [validationErrors, state.refused, isAsked]);
  const isOpen = state.ended === undefined && EDITABLE.has(record.state);
  return (
    <div className="fb-bridge">
      <SchemaForm
        schema={intake.schema}
        fields={state.fields}
        errors={errors}
        translate={t}
        files={files}
        pending={pending}
        readOnly={!isOpen}
        {...(intake.uiHints?.fieldHints && { fieldHints: intake.uiHints.fieldHints })}
        {...(only && { only })}
        note={(path) => {
          const conflict = conflicts.find((edit) => edit.path.join(".") === path);
          if (conflict === undefined) return null;
          const { id, name = id } = record.attribution?.[path]?.actor ?? record.lastUpdatedBy;
          return (
            <ConflictChoice
              conflict={conflict}
              name={name}
              t={t}
              onChoose={(choice) => session.choose(conflict.path, choice)}
            />
          );
        }}
        onTyping={(began) => session.begin(began)}
        onListFocus={(list) => session.focus(list)}
        onChange={(changes) => session.edit(changes)}
      />
      {isOpen && (
        <div className="fb-foot">
          <button type="button" className="fb-button fb-primary" aria-disabled={isBusy} onClick={submit}>
            {t("page.submit")}
          </button>
          <p className="fb-help" role="status">
            {t(`page.${state.saving}`)}
          </p>
        </div>
      )}
    </div>
  );
}

/** The state of a session, now and after each change. */
export const useFormState = (session: Pick<FormSession, "subscribe" | "state">): FormState =>
  useSyncExternalStore(
    (listener) => session.subscribe(listener),
    () => session.state,
  );

/** The files of a form. A new object whenever something happened to one, so that file fields are drawn again. */
export function useFiles(session: Pick<FormSession, "started" | "refresh">): FormFiles {
  const [drawn, redraw] = useReducer((count: number) => count + 1, 0);
  const files = useMemo(
    () => new Uploads(() => session.started(), { changed: redraw, done: () => session.refresh() }),
    [session],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: `drawn` counts what happened to the files
  return useMemo(() => files.shown(), [files, drawn]);
}

function useSubmit(props: FormBridgeFormProps & OpenedForm, pending: ReadonlySet<() => void>, ask: () => void) {
  const { session } = props;
  const [isBusy, setBusy] = useState(false);
  const idempotencyKey = useRef(newIdempotencyKey());

  function refuse(fields: readonly FieldError[]): void {
    ask();
    props.onRefused?.(fields);
  }
  async function send(): Promise<void> {
    await saveAll(session, pending);
    const { refused, conflicts } = session.state;
    if (refused.length > 0) return refuse(refused);
    if (conflicts.length > 0) return;
    try {
      const answer = await session.submit(idempotencyKey.current);
      // It may be sent back for changes: submitting it again is another call.
      idempotencyKey.current = newIdempotencyKey();
      props.onSubmitted?.(answer);
    } catch (error) {
      const { detail } = known(error);
      await session.refresh();
      if (detail?.fields === undefined) throw error;
      refuse(detail.fields);
    }
  }
  function submit(): void {
    if (isBusy) return;
    setBusy(true);
    send()
      .catch((error: unknown) => props.onError?.(known(error)))
      .finally(() => setBusy(false));
  }
  return { isBusy, submit };
}

/** Notifies the host when everything is saved, and when nothing can be saved any more. */
function useReports(props: FormBridgeFormProps & OpenedForm): void {
  const { session } = props;
  const newest = useRef(props);
  newest.current = props;
  useEffect(() => {
    let { saving, ended } = session.state;
    return session.subscribe(() => {
      const { state } = session;
      if (state.saving === "saved" && saving !== "saved") newest.current.onSaved?.(state.record);
      if (state.ended !== undefined && ended === undefined) newest.current.onError?.(state.ended);
      ({ saving, ended } = state);
    });
  }, [session]);
}

function known(error: unknown): FormBridgeError {
  if (error instanceof FormBridgeError) return error;
  throw error;
}
