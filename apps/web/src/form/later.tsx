import { type FormEvent, type ReactElement, useEffect, useRef, useState } from "react";
import { copyText } from "../shared/copy.ts";
import type { Reader } from "../shared/language.ts";
import type { OwnLink } from "./own-link.ts";

interface LaterProps {
  link: OwnLink;
  reader: Reader;
  onClose(): void;
}

/** The person's own link: to come back later, or to continue on the phone. */
export function LaterDialog({ link, reader, onClose }: LaterProps): ReactElement {
  const { t } = reader;
  const dialog = useRef<HTMLDialogElement>(null);
  const { made, hasFailed, make, mail } = link;
  useEffect(() => {
    dialog.current?.showModal();
    make();
  }, [make]);
  return (
    <dialog ref={dialog} className="pg-dialog" aria-labelledby="later-title" onClose={onClose}>
      <h2 id="later-title">{t("page.later")}</h2>
      {made !== undefined ? (
        <>
          <p>{t("page.laterText", { time: reader.time(made.expiresAt) })}</p>
          <CopyLink url={made.url} t={t} />
          {mail !== undefined && <MailLink mail={mail} t={t} />}
          {made.qr?.png !== undefined && (
            <figure className="pg-phone">
              <img className="pg-qr" src={made.qr.png} alt={t("page.phone")} />
              <figcaption>
                <strong>{t("page.phone")}</strong>
                {t("page.phoneText")}
              </figcaption>
            </figure>
          )}
        </>
      ) : (
        <p role="status">{hasFailed ? `${t("problem.other.title")}. ${t("problem.other.text")}` : t("page.loading")}</p>
      )}
      <div className="pg-actions">
        {hasFailed && (
          <button type="button" className="fb-button fb-primary" onClick={make}>
            {t("problem.tryAgain")}
          </button>
        )}
        <button type="button" className="fb-button" onClick={() => dialog.current?.close()}>
          {t("page.close")}
        </button>
      </div>
    </dialog>
  );
}

function CopyLink({ url, t }: { url: string; t: Reader["t"] }): ReactElement {
  const [isCopied, setCopied] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  /** Without a clipboard, the link is selected: it can be copied by hand. */
  function copy(): void {
    field.current?.select();
    void copyText(url).then(setCopied);
  }
  return (
    <div className="pg-inline-form">
      <input ref={field} className="fb-input" readOnly value={url} aria-label={t("page.later")} />
      <button type="button" className="fb-button fb-primary" onClick={copy}>
        {t(isCopied ? "page.copied" : "page.copy")}
      </button>
      <span className="fb-sr" role="status">
        {isCopied && t("page.copied")}
      </span>
    </div>
  );
}

function MailLink({ mail, t }: { mail: NonNullable<OwnLink["mail"]>; t: Reader["t"] }): ReactElement {
  const [outcome, setOutcome] = useState("");
  const [isBusy, setBusy] = useState(false);
  async function send(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    if (isBusy) return;
    const email = String(new FormData(event.currentTarget).get("email")).trim();
    setBusy(true);
    setOutcome("");
    const isSent = await mail(email);
    setOutcome(isSent ? t("page.laterSent", { email }) : t("page.laterNotSent"));
    setBusy(false);
  }
  return (
    <form className="pg-mail" onSubmit={send}>
      <label className="fb-label" htmlFor="later-email">
        {t("code.email")}
      </label>
      <div className="pg-inline-form">
        <input className="fb-input" id="later-email" name="email" type="email" autoComplete="email" required />
        <button type="submit" className="fb-button" aria-disabled={isBusy}>
          {t("page.laterMail")}
        </button>
      </div>
      <p className="pg-note" role="status">
        {outcome}
      </p>
    </form>
  );
}
