import { FormBridgeError, newIdempotencyKey } from "@formbridge/client";
import type { FieldError } from "@formbridge/contract";
import { saveAll } from "@formbridge/form";
import { useRef, useState } from "react";
import type { Reader } from "../shared/language.ts";
import { useLive } from "../shared/live.tsx";
import type { Opened } from "./opening.ts";
import { usePlace } from "./place.ts";
import { type Problem, problemOf } from "./problem.tsx";

interface SendingProps {
  opened: Opened;
  reader: Reader;
  /** Text that was typed and not handed over yet. */
  pending: ReadonlySet<() => void>;
  /** Everything is filled in: show the answers before they are sent. */
  onChecked(): void;
  /** Some fields are missing or wrong. */
  onRefused(): void;
  /** Another person changed this field too; somebody has to choose. */
  onConflict(path: string): void;
}

export interface Sending {
  isBusy: boolean;
  /** Why the last action failed, until the next one. */
  refusal: Problem | undefined;
  /** The person said that their part is done. */
  isDone: boolean;
  check(): void;
  submit(): void;
  finishPart(handoffId: string): void;
}

/** What the buttons of the bar do, one at a time. A failure is shown and announced, and can be tried again. */
export function useSending(props: SendingProps): Sending {
  const { opened, reader, pending } = props;
  const { session } = opened;
  const { t } = reader;
  const { tell } = usePlace();
  const live = useLive();
  const [isBusy, setBusy] = useState(false);
  const [isDone, setDone] = useState(false);
  const [refusal, setRefusal] = useState<Problem | undefined>(undefined);
  const submitKey = useRef(newIdempotencyKey());

  /** True: nothing that was typed waits for the person. */
  function isSettled(problems: readonly FieldError[] = []): boolean {
    const { conflicts, refused } = session.state;
    const all = [...problems, ...refused];
    if (all.length > 0) refuse(all);
    else if (conflicts[0] !== undefined) props.onConflict(conflicts[0].path.join("."));
    return all.length === 0 && conflicts.length === 0;
  }

  function fail(error: FormBridgeError): void {
    const problem = problemOf(error);
    tell({ kind: "error", submissionId: session.state.record.submissionId, type: error.type });
    setRefusal(problem);
    live.news(`${t("page.notSent")} ${t(`problem.${problem}.title`)}`);
  }

  function run(action: () => Promise<void>): void {
    if (isBusy) return;
    setBusy(true);
    setRefusal(undefined);
    action()
      .catch((error: unknown) => {
        if (!(error instanceof FormBridgeError)) throw error;
        fail(error);
      })
      .finally(() => setBusy(false));
  }

  function refuse(problems: readonly FieldError[]): void {
    tell({ kind: "refused", submissionId: session.submission.id, problems: problems.length });
    live.news(reader.plural("page.errors", problems.length));
    props.onRefused();
  }

  async function check(): Promise<void> {
    await saveAll(session, pending);
    await session.refresh();
    if (isSettled(session.state.record.validationErrors)) props.onChecked();
  }

  async function submit(): Promise<void> {
    await saveAll(session, pending);
    if (!isSettled()) return;
    const { id } = session.submission;
    try {
      const { state } = await session.submit(submitKey.current);
      // It may be sent back for changes: submitting it again is another call.
      submitKey.current = newIdempotencyKey();
      tell({ kind: "submitted", submissionId: id, state });
    } catch (error) {
      if (!(error instanceof FormBridgeError)) throw error;
      await session.refresh();
      if (error.detail?.fields === undefined) throw error;
      refuse(error.detail.fields);
    }
  }

  async function finishPart(handoffId: string): Promise<void> {
    await saveAll(session, pending);
    await session.submission.completeHandoff(handoffId);
    setDone(true);
    live.news(t("page.doneThanks"));
    tell({ kind: "completed", submissionId: session.submission.id, handoffId });
  }

  return {
    isBusy,
    refusal,
    isDone,
    check: () => run(check),
    submit: () => run(submit),
    finishPart: (handoffId) => run(() => finishPart(handoffId)),
  };
}
