import { isEqual } from "../../engine/changes.ts";
import type { ControlProps, NamedChoice } from "../fields/control-field.tsx";

/** Several of many: which are chosen, in the order of the choices. Values that are no choice stay where they are. */
export function useChosen({ value, choices, onChange }: ControlProps) {
  const values: readonly unknown[] = Array.isArray(value) ? value : [];
  const isChosen = (choice: NamedChoice): boolean => values.some((each) => isEqual(each, choice.value));
  const isKnown = (each: unknown): boolean => choices.some((choice) => isEqual(choice.value, each));
  return {
    isChosen,
    chosen: choices.filter(isChosen),
    toggle(choice: NamedChoice): void {
      const picked = choices.filter((each) => (each === choice ? !isChosen(each) : isChosen(each)));
      const next = [...values.filter((each) => !isKnown(each)), ...picked.map((each) => each.value)];
      onChange(next.length === 0 ? undefined : next);
    },
  };
}
