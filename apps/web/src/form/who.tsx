import { type ReactElement, useEffect, useRef, useState } from "react";
import type { Reader } from "../shared/language.ts";
import type { Opened, Person } from "./opening.ts";
import { usePlace } from "./place.ts";

interface WhoProps {
  people: readonly Person[];
  reader: Reader;
  open(person: Person): Promise<Opened>;
  onOpened(opened: Opened): void;
  onProblem(error: unknown): void;
}

/** A link that was made for several people asks which of them is here: what they fill in is recorded as theirs. */
export function WhoIsThere({ people, reader: { t }, open, onOpened, onProblem }: WhoProps): ReactElement {
  const { isPage } = usePlace();
  const [isBusy, setBusy] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (isPage) heading.current?.focus();
  }, [isPage]);
  function choose(person: Person): void {
    if (isBusy) return;
    setBusy(true);
    open(person).then(onOpened, onProblem);
  }
  return (
    <section className="pg-card pg-alone">
      <h1 ref={heading} tabIndex={-1}>
        {t("who.title")}
      </h1>
      <p className="pg-lead">{t("who.text")}</p>
      <ul className="pg-people">
        {people.map((person) => (
          <li key={person.id}>
            <button type="button" className="fb-button" aria-disabled={isBusy} onClick={() => choose(person)}>
              {person.name ?? person.id}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
