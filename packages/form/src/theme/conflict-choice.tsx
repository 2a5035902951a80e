import type { ReactElement } from "react";
import type { Edit } from "../session/edits.ts";
import type { Translate } from "../texts.ts";

interface ChoiceProps {
  conflict: Edit;
  /** Who else changed the field. */
  name: string;
  t: Translate;
  onChoose(choice: "mine" | "theirs"): void;
}

/** Two people changed one field: both values, and a button for each. */
export function ConflictChoice({ conflict: { value, theirs }, name, t, onChoose }: ChoiceProps): ReactElement {
  const shown = (given: unknown): string => {
    if (given === undefined || given === "") return t("conflict.empty");
    return typeof given === "string" ? given : JSON.stringify(given);
  };
  return (
    <fieldset className="fb-conflict">
      <legend>{t("conflict.title", { name })}</legend>
      <div className="fb-conflict-choice">
        <span className="fb-conflict-value">{shown(value)}</span>
        <button type="button" className="fb-button" onClick={() => onChoose("mine")}>
          {t("conflict.mine")}
        </button>
      </div>
      <div className="fb-conflict-choice">
        <span className="fb-conflict-value">{shown(theirs?.value)}</span>
        <button type="button" className="fb-button" onClick={() => onChoose("theirs")}>
          {t("conflict.theirs")}
        </button>
      </div>
    </fieldset>
  );
}
