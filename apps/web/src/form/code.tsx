import { FormBridgeError } from "@formbridge/client";
import { type ReactElement, useRef, useState } from "react";
import type { Reader } from "../shared/language.ts";
import type { Opened, Person } from "./opening.ts";
import { usePlace } from "./place.ts";

interface CodeProps {
  submissionId: string;
  code: string;
  reader: Reader;
  onOpened(opened: Opened): void;
  /** `open` tries again as one of those that the link was made for. */
  onProblem(error: FormBridgeError, open: (person: Person) => Promise<Opened>): void;
}

/** A magic link asks for the address that its code was sent to. Opening the page doesn't use it up. */
export function CodeForm({ submissionId, code, reader: { t }, onOpened, onProblem }: CodeProps): ReactElement {
  const { door } = usePlace();
  const form = useRef<HTMLFormElement>(null);
  const [isWrong, setWrong] = useState(false);
  const [isBusy, setBusy] = useState(false);

  async function open(): Promise<void> {
    if (form.current === null || !form.current.reportValidity()) return;
    const given = new FormData(form.current);
    const proof = { code: String(given.get("code")).trim(), email: String(given.get("email")).trim() };
    const openAs = (actor?: Person) => door.openCode(submissionId, { ...proof, ...(actor && { actor }) });
    setBusy(true);
    try {
      onOpened(await openAs());
    } catch (error) {
      if (!(error instanceof FormBridgeError)) throw error;
      if (error.type === "token_invalid") setWrong(true);
      else onProblem(error, openAs);
    } finally {
      setBusy(false);
    }
  }

  return (
    // Opened by a click or a key: a sandboxed frame submits no forms.
    <form className="pg-card pg-alone fb-fields" ref={form} onKeyDown={({ key }) => key === "Enter" && void open()}>
      <h1>{t("code.title")}</h1>
      <p>{t("code.text")}</p>
      <div>
        <label className="fb-label" htmlFor="email">
          {t("code.email")}
        </label>
        <input className="fb-input" id="email" name="email" type="email" autoComplete="email" required />
      </div>
      <div>
        <label className="fb-label" htmlFor="code">
          {t("code.code")}
        </label>
        <input className="fb-input" id="code" name="code" autoComplete="one-time-code" required defaultValue={code} />
      </div>
      <p className="fb-errors" role="alert">
        {isWrong && t("code.wrong")}
      </p>
      <div>
        <button type="button" className="fb-button fb-primary" disabled={isBusy} onClick={open}>
          {t("code.open")}
        </button>
      </div>
    </form>
  );
}
