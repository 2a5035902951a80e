import { type RefObject, useLayoutEffect, useRef } from "react";

/** Which control of a row: the first one that takes a value, or a button. */
type Target = "first" | "up" | "down" | "remove";

/**
 * Moves the focus after rows were added, moved or removed, so that keyboard users continue from there instead of from the top of the page.
 */
export function useFocusAfter(): {
  list: RefObject<HTMLDivElement | null>;
  focusAfter(key: number | undefined, target: Target): void;
} {
  const list = useRef<HTMLDivElement>(null);
  const wanted = useRef<{ key: number | undefined; target: Target } | undefined>(undefined);
  // Before the next key arrives.
  useLayoutEffect(() => {
    if (wanted.current === undefined) return;
    const { key, target } = wanted.current;
    wanted.current = undefined;
    const row = list.current?.querySelector(`[data-row="${key}"]`);
    controlIn(row, target)?.focus();
    if (row === null) list.current?.querySelector<HTMLElement>("[data-add]")?.focus();
  });
  return {
    list,
    focusAfter(key, target) {
      wanted.current = { key, target };
    },
  };
}

function controlIn(row: Element | null | undefined, target: Target): HTMLElement | null | undefined {
  if (target === "first") return row?.querySelector<HTMLElement>("input, select, textarea, button");
  const [button, other] = [target, target === "up" ? "down" : "up"].map((name) =>
    row?.querySelector<HTMLButtonElement>(`[data-button="${name}"]`),
  );
  return button?.disabled === true ? other : button;
}
