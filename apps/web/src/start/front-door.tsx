import type { FormBridgeClient } from "@formbridge/client";
import type { ListIntakesResponse } from "@formbridge/contract";
import { type ReactElement, useCallback, useEffect, useState } from "react";
import { Frame } from "../shared/frame.tsx";
import type { StartReader } from "./language.ts";

type Forms = ListIntakesResponse["items"] | "loading" | "failed";

/** What somebody sees who opens the server's own address: what this is, and what is open to everybody. No data. */
export function FrontDoor({ client, reader }: { client: FormBridgeClient; reader: StartReader }): ReactElement {
  const { t } = reader;
  const [forms, setForms] = useState<Forms>("loading");
  const load = useCallback(() => {
    client.intakes({ language: reader.locale }).then(
      ({ items }) => setForms(items),
      () => setForms("failed"),
    );
  }, [client, reader.locale]);
  useEffect(load, [load]);
  return (
    <Frame intake={{ branding: { name: "FormBridge" } }}>
      <section className="pg-intro">
        <h1>{t("start.title")}</h1>
        <p className="pg-lead">{t("start.text")}</p>
      </section>
      <section>
        <h2>{t("start.forms")}</h2>
        <OpenForms forms={forms} t={t} onRetry={load} />
      </section>
      <section>
        <h2>{t("start.developers")}</h2>
        <p>
          <a href="/docs">{t("start.reference")}</a> · <a href="/review">{t("start.queue")}</a>
        </p>
      </section>
    </Frame>
  );
}

function OpenForms({ forms, t, onRetry }: { forms: Forms; t: StartReader["t"]; onRetry(): void }): ReactElement {
  if (forms === "loading") return <p>{t("page.loading")}</p>;
  if (forms === "failed") {
    return (
      <>
        <p>{t("problem.other.title")}</p>
        <button type="button" className="fb-button" onClick={onRetry}>
          {t("problem.tryAgain")}
        </button>
      </>
    );
  }
  if (forms.length === 0) return <p>{t("start.none")}</p>;
  return (
    <ul className="pg-forms">
      {forms.map(({ id, name, description }) => (
        <li key={id}>
          <a href={`/forms/${encodeURIComponent(id)}`}>
            <strong>{name}</strong>
            {description !== undefined && <span className="pg-note">{description}</span>}
          </a>
        </li>
      ))}
    </ul>
  );
}
