import { useContext, useEffect, useRef, useState } from "react";
import { FormContexts, useFormContext } from "../../form-context.ts";

const PAUSE_MS = 250;

interface LocalText {
  text: string;
  onInput(text: string): void;
  onFocus(): void;
  onBlur(): void;
}

/**
 * Text as it is being typed. It is reported at a pause and when the field is left, so a keystroke costs no more than in
 * a plain form. A value from outside never replaces text in a field that has the focus; what it would have replaced is
 * reported as what was typed over.
 */
export function useLocalText(
  value: unknown,
  commit: (text: string) => void,
  written: (value: unknown) => string = textOf,
): LocalText {
  const { pending, onTyping } = useFormContext();
  const path = useContext(FormContexts.Path);
  const [text, setText] = useState(() => written(value));
  const shown = useRef(value);
  const typing = useRef<{ text: string; timer: ReturnType<typeof setTimeout> } | undefined>(undefined);
  const focused = useRef(false);
  /** After a report, the next value from outside is the reported text, which the field shows already. */
  const awaited = useRef(false);
  const newest = useRef({ commit, value });
  newest.current = { commit, value };

  const flush = useRef(() => {
    if (typing.current === undefined) return;
    clearTimeout(typing.current.timer);
    const typed = typing.current.text;
    typing.current = undefined;
    pending.delete(flush);
    awaited.current = typed !== written(newest.current.value);
    newest.current.commit(typed);
  }).current;

  const show = (next: unknown): void => {
    shown.current = next;
    setText(written(next));
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new value is a reason to show one
  useEffect(() => {
    if (awaited.current) shown.current = value;
    awaited.current = false;
    if (typing.current === undefined && !focused.current) show(value);
  }, [value]);
  useEffect(() => flush, [flush]);

  return {
    text,
    onInput(typed) {
      setText(typed);
      if (typing.current === undefined) onTyping({ path, over: shown.current });
      else clearTimeout(typing.current.timer);
      typing.current = { text: typed, timer: setTimeout(flush, PAUSE_MS) };
      pending.add(flush);
    },
    onFocus() {
      focused.current = true;
    },
    onBlur() {
      focused.current = false;
      if (typing.current === undefined) show(newest.current.value);
      else flush();
    },
  };
}

export const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
};
