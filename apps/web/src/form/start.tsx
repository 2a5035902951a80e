import { newIdempotencyKey } from "@formbridge/client";
import { type ReactElement, useMemo, useRef, useState } from "react";
import { type ShownIntake, translated } from "../shared/intake-texts.ts";
import type { Reader } from "../shared/language.ts";
import type { Opened } from "./opening.ts";
import { usePlace } from "./place.ts";

interface StartProps {
  intake: ShownIntake;
  reader: Reader;
  onOpened(opened: Opened): void;
  onProblem(error: unknown): void;
}

/** A public form before its first answer. Nothing is created by opening the page: mail scanners open links too. */
export function Start({ intake, reader, onOpened, onProblem }: StartProps): ReactElement {
  const { t } = reader;
  const { door } = usePlace();
  const { name, description } = useMemo(() => translated(intake, reader.locale), [intake, reader.locale]);
  const key = useRef(newIdempotencyKey()).current;
  const [isBusy, setBusy] = useState(false);
  return (
    <section className="pg-card pg-alone">
      <h1>{name}</h1>
      {description !== undefined && <p className="pg-lead">{description}</p>}
      <div className="pg-actions">
        <button
          type="button"
          className="fb-button fb-primary"
          disabled={isBusy}
          onClick={() => {
            setBusy(true);
            door.openNew(intake.id, key).then(onOpened, onProblem);
          }}
        >
          {t("page.start")}
        </button>
      </div>
    </section>
  );
}
