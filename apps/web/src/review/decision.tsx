import { type ReactElement, useEffect, useRef, useState } from "react";
import type { Reader } from "./language.ts";

/** What the reviewer is about to do. */
export type Mode = "look" | "approve" | "changes" | "reject";

const MAX_MESSAGE = 2000;

interface BarProps {
  mode: Mode;
  /** How many notes on single answers there are. */
  notes: number;
  status: string;
  reader: Reader;
  onMode(mode: Mode): void;
  onSendBack(): void;
}

/** The decision, always in reach. */
export function DecisionBar({ mode, notes, status, reader, onMode, onSendBack }: BarProps): ReactElement {
  const { t } = reader;
  const isWriting = mode === "changes" || mode === "reject";
  return (
    <div className="pg-bar">
      <div className="pg-bar-inner">
        <p className="pg-saving" role="status">
          {status !== "" ? status : isWriting && notes > 0 ? reader.plural("decide.notes", notes) : ""}
        </p>
        {isWriting ? (
          <>
            <button type="button" className="fb-button" onClick={() => onMode("look")}>
              {t("decide.cancel")}
            </button>
            <button type="button" className="fb-button fb-primary" onClick={onSendBack}>
              {t("decide.sendBack")}
            </button>
          </>
        ) : (
          <>
            <button type="button" className="fb-button" onClick={() => onMode("reject")}>
              {t("decide.reject")}
            </button>
            <button type="button" className="fb-button" onClick={() => onMode("changes")}>
              {t("decide.changes")}
            </button>
            <button type="button" className="fb-button fb-primary" onClick={() => onMode("approve")}>
              {t("decide.approve")}
            </button>
          </>
        )}
      </div>
    </div>
  );
}

interface SendBackProps {
  mode: Mode;
  message: string;
  onMessage(message: string): void;
  reader: Reader;
}

/** What is said about the whole form. */
export function SendBack({ mode, message, onMessage, reader: { t } }: SendBackProps): ReactElement {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), [mode]);
  return (
    <section className="pg-card" aria-labelledby="send-back-title">
      <h2 id="send-back-title">{t(mode === "reject" ? "decide.rejectTitle" : "decide.changesTitle")}</h2>
      <p>{t("decide.backText")}</p>
      <label className="fb-label" htmlFor="message">
        {t("decide.general")}
      </label>
      <p className="fb-help" id="message-help">
        {t("decide.generalHelp")}
      </p>
      <textarea
        ref={field}
        id="message"
        className="fb-input fb-textarea"
        aria-describedby="message-help"
        maxLength={MAX_MESSAGE}
        value={message}
        onInput={(event) => onMessage(event.currentTarget.value)}
      />
    </section>
  );
}

interface ApproveProps {
  status: string;
  reader: Reader;
  onClose(): void;
  onApprove(comment: string): void;
}

export function ApproveDialog({ status, reader: { t }, onClose, onApprove }: ApproveProps): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const [comment, setComment] = useState("");
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className="pg-dialog" aria-labelledby="approve-title" onClose={onClose}>
      <h2 id="approve-title">{t("decide.approveTitle")}</h2>
      <p>{t("decide.approveText")}</p>
      <label className="fb-label" htmlFor="comment">
        {t("decide.comment")}
      </label>
      <p className="fb-help" id="comment-help">
        {t("decide.commentHelp")}
      </p>
      <textarea
        id="comment"
        className="fb-input fb-textarea"
        aria-describedby="comment-help"
        maxLength={MAX_MESSAGE}
        value={comment}
        onInput={(event) => setComment(event.currentTarget.value)}
      />
      <p role="status">{status}</p>
      <div className="pg-actions">
        <button type="button" className="fb-button" onClick={() => dialog.current?.close()}>
          {t("decide.cancel")}
        </button>
        <button type="button" className="fb-button fb-primary" onClick={() => onApprove(comment.trim())}>
          {t("decide.approve")}
        </button>
      </div>
    </dialog>
  );
}
