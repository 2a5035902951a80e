import { createClient, type FormBridgeClient, FormBridgeError } from "@formbridge/client";
import type { ReviewItem } from "@formbridge/contract";
import { type FormEvent, type ReactElement, useCallback, useEffect, useMemo, useState } from "react";
import { Frame } from "../shared/frame.tsx";
import { nameOf } from "../shared/names.ts";
import type { Reader } from "./language.ts";
import { type Problem, ProblemView, problemOf } from "./problem.tsx";
import { ReviewPage } from "./review-page.tsx";
import { keySource } from "./source.ts";

/** What waits for a reviewer who has a key. The key lives in this component's memory and nowhere else. */
export function QueueApp({ reader }: { reader: Reader }): ReactElement {
  const [client, setClient] = useState<FormBridgeClient | undefined>(undefined);
  const [opened, setOpened] = useState<string | undefined>(undefined);
  const source = useMemo(
    () => (client === undefined || opened === undefined ? undefined : keySource(client, opened)),
    [client, opened],
  );
  if (client === undefined) return <KeyForm reader={reader} onClient={setClient} />;
  if (source !== undefined) {
    return <ReviewPage key={opened} source={source} reader={reader} onLeave={() => setOpened(undefined)} />;
  }
  return <Queue client={client} reader={reader} onOpen={setOpened} onLeave={() => setClient(undefined)} />;
}

function KeyForm({ reader: { t }, onClient }: { reader: Reader; onClient(client: FormBridgeClient): void }) {
  const [message, setMessage] = useState("");
  async function open(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const apiKey = String(new FormData(event.currentTarget).get("key")).trim();
    const client = createClient({ url: location.origin, apiKey });
    try {
      await client.reviews({ limit: 1 });
      onClient(client);
    } catch (error) {
      if (!(error instanceof FormBridgeError)) throw error;
      const isRefused = error.type === "unauthorized" || error.type === "forbidden" || error.type === "bad_request";
      setMessage(t(isRefused ? "key.wrong" : `problem.${problemOf(error)}.text`));
    }
  }
  return (
    <Frame>
      <form className="pg-card pg-alone fb-fields" onSubmit={open}>
        <h1>{t("key.title")}</h1>
        <p>{t("key.text")}</p>
        <div>
          <label className="fb-label" htmlFor="key">
            {t("key.label")}
          </label>
          <input className="fb-input" id="key" name="key" type="password" autoComplete="off" required />
        </div>
        <p className="fb-errors" role="alert">
          {message}
        </p>
        <div>
          <button type="submit" className="fb-button fb-primary">
            {t("key.open")}
          </button>
        </div>
      </form>
    </Frame>
  );
}

interface QueueProps {
  client: FormBridgeClient;
  reader: Reader;
  onOpen(submissionId: string): void;
  onLeave(): void;
}

function Queue({ client, reader, onOpen, onLeave }: QueueProps): ReactElement {
  const { t } = reader;
  const [items, setItems] = useState<readonly ReviewItem[] | undefined>(undefined);
  const [next, setNext] = useState<string | undefined>(undefined);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const load = useCallback(
    async (pageToken?: string) => {
      try {
        const answer = await client.reviews(pageToken === undefined ? {} : { pageToken });
        setItems((before = []) => (pageToken === undefined ? answer.items : [...before, ...answer.items]));
        setNext(answer.nextPageToken);
        setProblem(undefined);
      } catch (error) {
        setProblem(problemOf(error));
      }
    },
    [client],
  );
  useEffect(() => void load(), [load]);
  if (problem !== undefined) {
    return (
      <Frame>
        <ProblemView problem={problem} reader={reader} onRetry={() => void load()} />
      </Frame>
    );
  }
  return (
    <Frame>
      <section className="pg-card">
        <h1>{t("queue.title")}</h1>
        {items === undefined ? (
          <p role="status">{t("page.loading")}</p>
        ) : items.length === 0 && next === undefined ? (
          <p role="status">{t("queue.empty")}</p>
        ) : (
          <ul className="rv-queue">
            {items.map((item) => (
              <Item key={item.submissionId} item={item} reader={reader} onOpen={onOpen} />
            ))}
          </ul>
        )}
        <div className="pg-actions">
          {next !== undefined && (
            <button type="button" className="fb-button" onClick={() => void load(next)}>
              {t("queue.more")}
            </button>
          )}
          <button type="button" className="fb-button" onClick={() => void load()}>
            {t("queue.refresh")}
          </button>
          <button type="button" className="fb-button fb-quiet" onClick={onLeave}>
            {t("queue.leave")}
          </button>
        </div>
      </section>
    </Frame>
  );
}

function Item({ item, reader, onOpen }: { item: ReviewItem; reader: Reader; onOpen(id: string): void }): ReactElement {
  const { t } = reader;
  const {
    submissionId,
    intakeName,
    gate,
    gateLabel = gate,
    requestedAt,
    approvals,
    requiredApprovals: required,
    escalated,
  } = item;
  const by = item.submittedBy ?? item.createdBy;
  return (
    <li>
      <div>
        <strong>{intakeName}</strong>{" "}
        {escalated === true && <span className="rv-badge rv-new">{t("queue.escalated")}</span>}
        {/* Each part has its own direction: a name in Latin letters must not pull in the number that follows it. */}
        <p className="pg-note">
          <bdi>{t("queue.from", { name: nameOf(by, t) })}</bdi> · <bdi>{gateLabel}</bdi> ·{" "}
          <bdi>{t("gate.progress", { count: approvals, required })}</bdi> ·{" "}
          <bdi>{t("gate.since", { time: reader.time(requestedAt) })}</bdi>
        </p>
      </div>
      <button type="button" className="fb-button" onClick={() => onOpen(submissionId)}>
        {t("queue.open", { name: intakeName })}
        <span className="fb-sr"> {submissionId}</span>
      </button>
    </li>
  );
}
