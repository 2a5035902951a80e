import type { ReactElement } from "react";
import type { ShownIntake } from "../shared/intake-texts.ts";
import { labelOf } from "../shared/labels.ts";
import { nameOf } from "../shared/names.ts";
import { leavesOf, type ValueNode } from "../shared/values.tsx";
import type { Changes } from "./changes.ts";
import type { Reader } from "./language.ts";

interface SentBackProps {
  changes: Changes;
  tree: readonly ValueNode[];
  intake: ShownIntake;
  reader: Reader;
}

/** What the last rejection asked for, and what has become of it. */
export function SentBack({ changes, tree, intake, reader }: SentBackProps): ReactElement {
  const { t } = reader;
  const { rejection, removed, isChanged } = changes;
  const { by, at, reasons, fieldReasons = {} } = rejection;
  const isGone = (path: string): boolean => removed.includes(path);
  const count =
    leavesOf(tree).filter(({ path, text }) => text !== undefined && isChanged(path)).length + removed.length;
  return (
    <section className="pg-card" aria-labelledby="back-title">
      <h2 id="back-title">{t("back.title")}</h2>
      <p>{t("back.by", { name: nameOf(by, t), time: reader.time(at) })}</p>
      {reasons.map((reason) => (
        <blockquote key={reason} className="pg-message">
          {reason}
        </blockquote>
      ))}
      {Object.keys(fieldReasons).length > 0 && (
        <ul className="rv-reasons">
          {Object.entries(fieldReasons).map(([path, reason]) => (
            <li key={path}>
              <strong>{labelOf(intake, path)}</strong>{" "}
              <span className={isChanged(path) || isGone(path) ? "rv-badge rv-ok" : "rv-badge"}>
                {t(isChanged(path) || isGone(path) ? "back.mended" : "back.open")}
              </span>
              <div className="rv-text">{reason}</div>
            </li>
          ))}
        </ul>
      )}
      <p>{count === 0 ? t("back.none") : reader.plural("back.changes", count)}</p>
      {removed.length > 0 && (
        <p className="pg-note">
          {t("changed.removed")}: {removed.map((path) => labelOf(intake, path)).join(", ")}
        </p>
      )}
    </section>
  );
}
