/** Everything that ends in an hour, created by one instance and read by all. */
import { expect } from "vitest";
import { ADMIN_KEY } from "../faults/ledger-check.ts";
import { inLink } from "../support/handoffs.ts";
import { caller, type Loose, minimalIntake, type Reply } from "../support/harness.ts";
import { AGENT, created, idempotencyKey, setFields } from "../support/moves.ts";

export const HOUR = 3_600_000;

export const HOURLY_INTAKES = [
  { ...minimalIntake("hourly-tokens"), tokens: { ttlMs: HOUR } },
  { ...minimalIntake("hourly-records"), idempotency: { ttlMs: HOUR } },
  minimalIntake("hourly"),
];

type Server = { call: ReturnType<typeof caller> };
export const serverAt = (url: string): Server => ({ call: caller(url) });

export interface HourlyThings {
  token: string;
  submission: string;
  session: { id: string; secret: string };
  record: { token: string; key: string };
  pageToken: string;
}

/** `until` is what every response must say about the end. */
export async function makeHourlyThings(server: Server, name: string, until: string): Promise<HourlyThings> {
  const first = { body: { initialFields: { name } } };
  const token = await created(server, "hourly-tokens", first);
  const submission = await created(server, "hourly", { body: { ...first.body, ttlMs: HOUR } });
  const long = await created(server, "hourly", first);
  const kept = await created(server, "hourly-records", first);
  const handoff = await server.call("POST", `/resume/${long.resumeToken}/handoffs`, {
    body: { actor: AGENT, expiresInMs: HOUR },
  });
  const opened = await server.call("POST", `/submissions/${long.submissionId}/sessions`, {
    body: { session: inLink(handoff.body.url), carrier: "header" },
  });
  const told = [token.tokenExpiresAt, submission.tokenExpiresAt, handoff.body.expiresAt, opened.body.expiresAt];
  expect(told).toEqual(Array(4).fill(until));
  const key = idempotencyKey(name.replaceAll(" ", "-"));
  const written = await setFields(server, kept.resumeToken, { note: name }, { headers: { "idempotency-key": key } });
  expect(written.body).toMatchObject({ version: 2, _idempotent: false });
  const list = await server.call("GET", "/submissions?limit=1", { key: ADMIN_KEY });
  return {
    token: token.resumeToken,
    submission: submission.resumeToken,
    session: { id: long.submissionId, secret: opened.body.session },
    record: { token: kept.resumeToken, key },
    pageToken: list.body.nextPageToken,
  };
}

const summary = ({ status, body }: Reply): [number, string] => [status, body.error?.type ?? "ok"];

/** What an instance reports about them. */
export async function lookAtHourlyThings(server: Server, things: HourlyThings): Promise<Loose> {
  const { token, submission, session, record, pageToken } = things;
  const [byToken, bySubmission, bySession, page] = await Promise.all([
    server.call("GET", `/resume/${token}`),
    server.call("GET", `/resume/${submission}`),
    server.call("GET", `/submissions/${session.id}`, { key: session.secret }),
    server.call("GET", `/submissions?pageToken=${encodeURIComponent(pageToken)}`, { key: ADMIN_KEY }),
  ]);
  // Another request under the key: a conflict while it is kept, a stale token after that.
  const other = { headers: { "idempotency-key": record.key } };
  const byRecord = await setFields(server, record.token, { note: "another" }, other);
  return {
    token: summary(byToken),
    submission: summary(bySubmission),
    session: summary(bySession),
    record: summary(byRecord),
    page: summary(page),
  };
}

export const ALIVE = {
  token: [200, "ok"],
  submission: [200, "ok"],
  session: [200, "ok"],
  record: [409, "conflict"],
  page: [200, "ok"],
};
export const OVER = {
  ...ALIVE,
  token: [410, "token_expired"],
  submission: [410, "expired"],
  session: [410, "token_expired"],
  record: [409, "token_conflict"],
};
