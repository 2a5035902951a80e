import { type ReactElement, useEffect, useRef } from "react";
import type { ShownIntake } from "../shared/intake-texts.ts";
import type { Reader } from "../shared/language.ts";
import { rowsOf, Values } from "../shared/values.tsx";

interface CheckProps {
  fields: Record<string, unknown>;
  intake: ShownIntake;
  reader: Reader;
  goTo(path: string): void;
}

/** The answers before they are sent. The heading takes the focus: the form is gone from the page. */
export function CheckAnswers({ fields, intake, reader, goTo }: CheckProps): ReactElement {
  const { t } = reader;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section className="pg-card">
      <h2 ref={heading} tabIndex={-1}>
        {t("page.reviewTitle")}
      </h2>
      <p>{t("page.reviewText")}</p>
      <Values rows={rowsOf(fields, intake, reader)} change={{ label: t("page.change"), goTo }} />
    </section>
  );
}
