import type { Mail, Mailer } from "@formbridge/core";
import type { CallOptions, Loose, Reply, TestServer } from "./harness.ts";
import { AGENT } from "./submissions.ts";

/** Creates a hand-off with the token, expects success, and returns the body. */
export async function handOff(server: TestServer, token: string, request: Loose = {}): Promise<Loose> {
  const reply = await server.call("POST", `/resume/${token}/handoffs`, { body: { actor: AGENT, ...request } });
  if (reply.status !== 201) throw new Error(`not handed over: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
}

/** The value of `session`, or another parameter, in a link. */
export const inLink = (url: string, name = "session"): string => new URL(url).searchParams.get(name) ?? "";

export const openSession = (
  server: TestServer,
  { submissionId, url }: Loose,
  request: Loose = {},
  options: CallOptions = {},
): Promise<Reply> =>
  server.call("POST", `/submissions/${submissionId}/sessions`, {
    ...options,
    body: { session: inLink(url), ...request },
  });

/** Someone who works in a session, which every call carries. */
export interface Visitor {
  session: string;
  call(method: string, suffix: string, options?: CallOptions): Promise<Reply>;
  /** Sets fields on a version. */
  fill(fields: Loose, version: number): Promise<Reply>;
}

/** Opens a hand-off's link as an app does, with the session in a header. */
export async function visit(server: TestServer, handoff: Loose, actor?: Loose): Promise<Visitor> {
  const reply = await openSession(server, handoff, { carrier: "header", ...(actor && { actor }) });
  if (reply.status !== 201) throw new Error(`not opened: ${reply.status} ${JSON.stringify(reply.body)}`);
  return visitor(server, handoff.submissionId, reply.body.session);
}

export function visitor(server: TestServer, submissionId: string, session: string): Visitor {
  const call: Visitor["call"] = (method, suffix, options = {}) =>
    server.call(method, `/submissions/${submissionId}${suffix}`, { ...options, key: session });
  return {
    session,
    call,
    fill: (fields, version) => call("PATCH", "/fields", { body: { fields, version } }),
  };
}

/** Every call about hand-offs, valid and invalid. The session writes nothing, so the token stays. */
export async function callHandoffs(
  call: TestServer["call"],
  { token, id, key: adminKey }: { token: string; id: string; key: string },
): Promise<void> {
  const made = await call("POST", `/resume/${token}/handoffs`, { body: { actor: AGENT, kind: "qr", message: "hi" } });
  const { url, handoffId } = made.body;
  await call("POST", `/resume/${token}/handoffs`, { body: { actor: AGENT, kind: "magic_link" } });
  await call("POST", `/resume/${token}/handoffs`, {
    body: { actor: AGENT, kind: "magic_link", recipientEmail: "jane@example.com" },
  });
  await call("GET", new URL(url).pathname + new URL(url).search);
  await call("GET", `/resume/${id}/${token}`);
  await call("GET", `/resume?token=${token}`);
  const session = new URL(url).searchParams.get("session");
  const opened = await call("POST", `/submissions/${id}/sessions`, { body: { session, carrier: "header" } });
  await call("POST", `/submissions/${id}/sessions`, { body: { session } });
  await call("POST", `/submissions/${id}/sessions`, { body: { code: "x", email: "jane@example.com" } });
  const key: string = opened.body.session;
  await call("GET", `/submissions/${id}`, { key });
  await call("GET", `/submissions/${id}/handoffs`, { key });
  await call("PATCH", `/submissions/${id}/fields`, { key, body: { fields: {} } });
  await call("GET", `/submissions/${id}/handoffs`, { key: adminKey });
  await call("DELETE", `/resume/${token}/handoffs/${handoffId}`, { body: { reason: "over" } });
  await call("GET", `/submissions/${id}`, { key });
  await call("POST", `/submissions/${id}/sessions`, { body: { session } });
}

/** A mailer that keeps what it is given, or refuses it. */
export interface Mailbox extends Mailer {
  mails: Mail[];
  broken: boolean;
  /** The code in the last mail. */
  lastCode(): string;
  /** The secret in the last review link sent to this person. */
  reviewLink(to: string): string;
}

export function createMailbox(): Mailbox {
  const mails: Mail[] = [];
  return {
    mails,
    broken: false,
    async send(mail) {
      if (this.broken) throw new Error("the post office is closed");
      mails.push(mail);
    },
    reviewLink: (to) =>
      mails.flatMap((mail) => (mail.to === to ? [...mail.text.matchAll(/rvw_[\w-]{43}/g)] : [])).at(-1)?.[0] ?? "",
    lastCode: () => /code: (\S+)/.exec(mails.at(-1)?.text ?? "")?.[1] ?? "",
  };
}
