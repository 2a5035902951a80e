import { type RefObject, useRef, useState } from "react";
import type { ShownIntake } from "../shared/intake-texts.ts";

export type Steps = NonNullable<NonNullable<ShownIntake["uiHints"]>["steps"]>;

export const isInStep = (fields: readonly string[], path: string): boolean =>
  fields.some((field) => path === field || path.startsWith(`${field}.`) || field.startsWith(`${path}.`));

export interface Navigation {
  step: number;
  /** The element that holds the fields. */
  place: RefObject<HTMLElement | null>;
  openStep(step: number): void;
  goTo(path: string): void;
  goToNextMissing(missing: readonly string[]): void;
}

/** Moves between steps and fields. `show` brings the fields back when something else is shown in their place. */
export function useNavigation(steps: Steps, show: () => void): Navigation {
  const [step, setStep] = useState(0);
  const place = useRef<HTMLElement>(null);
  const lastMissing = useRef<string | undefined>(undefined);

  function goTo(path: string): void {
    const at = steps.findIndex(({ fields }) => isInStep(fields, path));
    if (at !== -1) setStep(at);
    show();
    afterDrawing(() => focusField(place.current, path));
  }

  /** The missing field after the one with the focus; after the last one, the first again. */
  function goToNextMissing(missing: readonly string[]): void {
    const here = pathOf(activeIn(place.current)) ?? lastMissing.current;
    const next = missing[(missing.indexOf(here ?? "") + 1) % missing.length] ?? "";
    lastMissing.current = next;
    goTo(next);
  }

  function openStep(next: number): void {
    setStep(next);
    afterDrawing(() => {
      place.current?.focus();
      place.current?.scrollIntoView({ block: "start" });
    });
  }

  return { step, place, openStep, goTo, goToNextMissing };
}

export const afterDrawing = (callback: () => void): void => {
  requestAnimationFrame(() => requestAnimationFrame(callback));
};

/** Focuses a field, or the first control of its group. */
function focusField(fields: HTMLElement | null, path: string): void {
  const all = [...(fields?.querySelectorAll<HTMLElement>("[data-path]") ?? [])];
  const field =
    all.find(({ dataset }) => dataset.path === path) ??
    all.findLast(({ dataset }) => path.startsWith(`${dataset.path}.`));
  const control = field?.querySelector<HTMLElement>("input, select, textarea, button");
  control?.focus({ preventScroll: true });
  field?.scrollIntoView({ block: "center" });
}

/** The focused element: a shadow root has its own. */
const activeIn = (element: HTMLElement | null): Element | null =>
  (element?.getRootNode() as Document | ShadowRoot | undefined)?.activeElement ?? null;

const pathOf = (element: Element | null): string | undefined =>
  element?.closest<HTMLElement>("[data-path]")?.dataset.path;
