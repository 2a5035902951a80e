import type { Saving } from "@formbridge/form";
import { type ReactElement, useEffect, useState } from "react";
import type { Reader } from "../shared/language.ts";

export interface Action {
  label: string;
  run(): void;
}

interface BarProps {
  saving: Saving;
  /** Something can't be saved before the person has chosen between two values. */
  isHeld: boolean;
  reader: Reader;
  isBusy: boolean;
  primary: Action;
  /** One step back. */
  back?: Action | undefined;
  /** Less important: they move into a menu where there is no room. */
  others: readonly Action[];
}

/** Always in reach, in one row: whether everything is saved, and the next step. */
export function Bar({ saving, isHeld, reader: { t }, isBusy, primary, back, others }: BarProps): ReactElement {
  const isWide = useMedia("(min-width: 720px)");
  const shown = isHeld && saving !== "offline" ? "held" : saving;
  return (
    <div className="pg-bar">
      <div className="pg-bar-inner">
        <p className="pg-saving" data-saving={shown} aria-hidden="true">
          <span className="pg-saving-text">{t(SHORT[shown])}</span>
        </p>
        {isWide ? others.map((action) => <Button key={action.label} {...action} />) : <Menu actions={others} t={t} />}
        {back !== undefined && (
          <button type="button" className="fb-button pg-back" onClick={back.run} aria-label={back.label}>
            <span className="pg-back-text">{back.label}</span>
          </button>
        )}
        <button type="button" className="fb-button fb-primary" aria-disabled={isBusy} onClick={primary.run}>
          {primary.label}
        </button>
      </div>
    </div>
  );
}

const SHORT = {
  saved: "page.savedShort",
  offline: "page.offlineShort",
  saving: "page.saving",
  waiting: "page.saving",
  held: "page.waiting",
} as const;

const Button = ({ label, run }: Action): ReactElement => (
  <button type="button" className="fb-button" onClick={run}>
    {label}
  </button>
);

function Menu({ actions, t }: { actions: readonly Action[]; t: Reader["t"] }): ReactElement | null {
  if (actions.length === 0) return null;
  return (
    <>
      <button type="button" className="fb-button fb-icon" popoverTarget="pg-menu" aria-label={t("page.more")}>
        <span aria-hidden="true">⋯</span>
      </button>
      <div id="pg-menu" className="pg-menu" popover="auto">
        {actions.map(({ label, run }) => (
          <button
            key={label}
            type="button"
            className="fb-button"
            popoverTarget="pg-menu"
            popoverTargetAction="hide"
            onClick={run}
          >
            {label}
          </button>
        ))}
      </div>
    </>
  );
}

function useMedia(query: string): boolean {
  const [isMatching, setMatching] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const onChange = () => setMatching(list.matches);
    list.addEventListener("change", onChange);
    return () => list.removeEventListener("change", onChange);
  }, [query]);
  return isMatching;
}
