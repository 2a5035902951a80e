/** The other ways to reach a submission: review links, hand-off links and codes, signed URLs. Their refusals say as much as a key's. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NEXT_ACTIONS, type NextActionName } from "../../packages/contract/src/errors.ts";
import { createMailbox, handOff, inLink, type Mailbox, openSession } from "../support/handoffs.ts";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { eventsOf } from "../support/moves.ts";
import { drain, gated, JOBS_BY_HAND, submitted } from "../support/reviews.ts";
import { AGENT, create, expectError, expectNoToken, HOUR } from "../support/submissions.ts";
import { announced, confirm, FILES_SCHEMA, PDF, send, walk } from "../support/uploads.ts";

const JANE = "jane@example.com";
const UNKNOWN = "x".repeat(43);
let server: TestServer;
let post: Mailbox;
let creator: string;
let intake: string;

beforeAll(async () => {
  post = createMailbox();
  server = await startTestServer({ mailer: post, env: JOBS_BY_HAND });
  await server.putIntake({ id: "open" });
  await server.putIntake({ id: "files", schema: FILES_SCHEMA });
  creator = await server.makeKey({ roles: ["agent"], actor: AGENT });
  intake = await gated(server, [{ name: "legal", reviewers: { emails: [JANE] } }]);
});
afterAll(() => server.stop());

interface Refusal {
  reply: Pick<Reply, "status" | "body" | "headers">;
  /** Which submission it is about; absent: no known one. */
  id?: string;
}

interface Row {
  name: string;
  expected: [status: number, type: string];
  /** Everything, or only that the submission exists. */
  tells: "all" | "id" | "nothing";
  action: NextActionName;
  refuse: () => Promise<Refusal>;
}

async function mailed(): Promise<{ id: string; link: string }> {
  const { submissionId: id } = await submitted(server, intake);
  await drain(server);
  return { id, link: post.reviewLink(JANE) };
}

const decide = (link: string, body: Loose = {}): Promise<Reply> =>
  server.call("POST", `/reviews/${link}`, { body: { decision: "approved", ...body } });

async function handedOver(more: Loose = {}): Promise<Loose> {
  const made = await create(server, "open", { key: creator });
  return { ...(await handOff(server, made.resumeToken, more)), token: made.resumeToken };
}

const revoke = ({ token, handoffId }: Loose) =>
  server.call("DELETE", `/resume/${token}/handoffs/${handoffId}`, { body: {} });

async function announcedPdf(): Promise<Loose> {
  const made = await create(server, "files");
  return await announced(server, made.resumeToken, { field: "pdf", bytes: PDF });
}

const BY_REVIEW_LINK: Row[] = [
  {
    name: "a rejection without reasons",
    expected: [422, "invalid"],
    tells: "all",
    action: "collect_field",
    refuse: async () => {
      const { id, link } = await mailed();
      return { id, reply: await decide(link, { decision: "rejected" }) };
    },
  },
  {
    name: "somebody else's name",
    expected: [403, "forbidden"],
    tells: "all",
    action: "collect_field",
    refuse: async () => {
      const { id, link } = await mailed();
      return { id, reply: await decide(link, { actor: { kind: "human", id: "eve" } }) };
    },
  },
  {
    name: "a gate that others decide now",
    expected: [403, "forbidden"],
    tells: "all",
    action: "wait_for_review",
    refuse: async () => {
      const { id, link } = await mailed();
      const body = { reviewers: { ids: ["otto"] }, reason: "on leave" };
      await server.call("POST", `/submissions/${id}/review/reassign`, { key: server.adminKey, body });
      return { id, reply: await decide(link) };
    },
  },
  {
    name: "events after one that is not known",
    expected: [400, "bad_request"],
    tells: "all",
    action: "wait_for_review",
    refuse: async () => {
      const { id, link } = await mailed();
      return { id, reply: await server.call("GET", `/reviews/${link}/events?afterEventId=evt_x`) };
    },
  },
  {
    name: "a link that was used",
    expected: [410, "token_expired"],
    tells: "id",
    action: "fetch_current_state",
    refuse: async () => {
      const { id, link } = await mailed();
      await decide(link);
      return { id, reply: await decide(link) };
    },
  },
  {
    name: "a submission that was cancelled",
    expected: [410, "cancelled"],
    tells: "all",
    action: "fetch_current_state",
    refuse: async () => {
      const { id, link } = await mailed();
      await server.call("DELETE", `/submissions/${id}`, { key: server.adminKey });
      return { id, reply: await server.call("GET", `/reviews/${link}`) };
    },
  },
  {
    name: "an expired link",
    expected: [410, "token_expired"],
    tells: "id",
    action: "request_handoff",
    refuse: async () => {
      const { id, link } = await mailed();
      server.clock.advance(8 * 24 * HOUR);
      return { id, reply: await server.call("GET", `/reviews/${link}`) };
    },
  },
  ...["rvw_short", `rvw_${UNKNOWN}`].map(
    (link): Row => ({
      name: `no link of ours, ${link.length} characters`,
      expected: [link === "rvw_short" ? 400 : 404, "token_invalid"],
      tells: "nothing",
      action: "request_handoff",
      refuse: async () => ({ reply: await server.call("GET", `/reviews/${link}`) }),
    }),
  ),
];

const BY_HANDOFF: Row[] = [
  {
    name: "an agent",
    expected: [403, "forbidden"],
    tells: "all",
    action: "collect_field",
    refuse: async () => {
      const handoff = await handedOver();
      return { id: handoff.submissionId, reply: await openSession(server, handoff, { actor: AGENT }) };
    },
  },
  {
    name: "several were meant, and nobody is named",
    expected: [400, "bad_request"],
    tells: "all",
    action: "collect_field",
    refuse: async () => {
      const handoff = await handedOver({ allowedActors: ["ann", "bob"].map((id) => ({ kind: "human", id })) });
      return { id: handoff.submissionId, reply: await openSession(server, handoff) };
    },
  },
  {
    name: "revoked, and by the wrong person",
    expected: [410, "token_expired"],
    tells: "id",
    action: "request_handoff",
    refuse: async () => {
      const handoff = await handedOver();
      await revoke(handoff);
      return { id: handoff.submissionId, reply: await openSession(server, handoff, { actor: AGENT }) };
    },
  },
  {
    name: "cancelled",
    expected: [410, "cancelled"],
    tells: "all",
    action: "create_new_submission",
    refuse: async () => {
      const handoff = await handedOver();
      await server.call("DELETE", `/resume/${handoff.token}`);
      return { id: handoff.submissionId, reply: await openSession(server, handoff) };
    },
  },
  {
    name: "a session that was revoked",
    expected: [410, "token_expired"],
    tells: "id",
    action: "request_handoff",
    refuse: async () => {
      const handoff = await handedOver();
      const { session } = (await openSession(server, handoff, { carrier: "header" })).body;
      await revoke(handoff);
      const id = handoff.submissionId;
      return { id, reply: await server.call("GET", `/submissions/${id}`, { key: session }) };
    },
  },
  {
    name: "no link of ours",
    expected: [404, "token_invalid"],
    tells: "nothing",
    action: "request_handoff",
    refuse: async () => {
      const { submissionId } = await handedOver();
      const body = { session: `sess_${UNKNOWN}` };
      return { reply: await server.call("POST", `/submissions/${submissionId}/sessions`, { body }) };
    },
  },
];

const BY_URL: Row[] = [
  {
    name: "another type than announced",
    expected: [415, "unsupported_media_type"],
    tells: "all",
    action: "request_upload",
    refuse: async () => {
      const signed = await announcedPdf();
      return { id: signed.submissionId, reply: await send(signed, PDF, { "content-type": "text/html" }) };
    },
  },
  {
    name: "confirmed already",
    expected: [409, "conflict"],
    tells: "all",
    action: "request_upload",
    refuse: async () => {
      const { submissionId: id, signed } = await walk(server, { field: "pdf", bytes: PDF });
      return { id, reply: await send(signed, PDF) };
    },
  },
  {
    name: "cancelled",
    expected: [410, "cancelled"],
    tells: "all",
    action: "create_new_submission",
    refuse: async () => {
      const signed = await announcedPdf();
      await server.call("DELETE", `/resume/${signed.resumeToken}`);
      return { id: signed.submissionId, reply: await send(signed, PDF) };
    },
  },
  {
    name: "too late",
    expected: [410, "token_expired"],
    tells: "all",
    action: "request_upload",
    refuse: async () => {
      const signed = await announcedPdf();
      server.clock.advance(2 * HOUR);
      return { id: signed.submissionId, reply: await send(signed, PDF) };
    },
  },
  {
    name: "resumed after it was confirmed",
    expected: [409, "conflict"],
    tells: "all",
    action: "request_upload",
    refuse: async () => {
      const signed = await announcedPdf();
      await send(signed, PDF);
      await confirm(server, signed.resumeToken, signed.uploadId);
      const { pathname, search } = new URL(signed.resumable.url);
      const headers = { "tus-resumable": "1.0.0", "upload-offset": "0" };
      const raw = Buffer.from("x");
      const type = { "content-type": "application/offset+octet-stream" };
      const reply = await server.call("PATCH", pathname + search, { raw, headers: { ...headers, ...type } });
      return { id: signed.submissionId, reply };
    },
  },
  {
    name: "a range beyond the end",
    expected: [416, "range_not_satisfiable"],
    tells: "all",
    action: "fetch_current_state",
    refuse: async () => {
      const { submissionId: id, uploadId, token } = await walk(server, { field: "pdf", bytes: PDF });
      const { url } = (await server.call("GET", `/resume/${token}/uploads/${uploadId}`)).body;
      const { pathname, search } = new URL(url);
      return { id, reply: await server.call("GET", pathname + search, { headers: { range: "bytes=999-" } }) };
    },
  },
  {
    name: "a URL that was changed",
    expected: [403, "forbidden"],
    tells: "nothing",
    action: "request_upload",
    refuse: async () => {
      const signed = await announcedPdf();
      return { reply: await send({ ...signed, url: `${signed.url}x` }, PDF) };
    },
  },
];

describe.each([
  ["a review link", BY_REVIEW_LINK],
  ["a hand-off", BY_HANDOFF],
  ["a signed URL", BY_URL],
])("by %s", (_way, rows) => {
  it.each(rows)("[AUDIT-F22] $name gets $tells, and what to do", async ({ expected, tells, action, refuse }) => {
    const { reply, id } = await refuse();
    const error = expectError(reply as Reply, ...(expected as [number, never]));
    expectNoToken(reply as Reply);
    const { submissionId, state, version } = reply.body;
    if (tells === "nothing") expect([submissionId, state, version]).toEqual([undefined, undefined, undefined]);
    else if (tells === "id") expect([submissionId, state, version]).toEqual([id, undefined, undefined]);
    else {
      const now = (await server.call("GET", `/submissions/${id}`, { key: server.adminKey })).body;
      expect([submissionId, state, version]).toEqual([id, now.state, now.version]);
    }
    const actions = error.nextActions.map(({ action: name }: Loose) => name);
    expect(actions).toContain(action);
    for (const name of actions) expect(Object.keys(NEXT_ACTIONS)).toContain(name);
  });
});

it("[AUDIT-F10] an ended hand-off link records its failed use in the history", async () => {
  const handoff = await handedOver();
  await revoke(handoff);
  await openSession(server, handoff);
  await server.server.core.operations.flushAudit();
  const events = await eventsOf(server, handoff.submissionId, "types=token.accessed");
  const failed = { operation: "openSession", outcome: "failure", reason: "handoff_revoked" };
  expect(events.map(({ payload }) => payload)).toContainEqual(
    expect.objectContaining({ ...failed, handoffId: handoff.handoffId, ipAddress: "127.0.0.1" }),
  );
  expect(JSON.stringify(events)).not.toContain(inLink(handoff.url));
});

it.each(["revoked", "malformed"])(
  "[AUDIT-F22] a key that can see the submission gets its state when its token is %s",
  async (what) => {
    const { submissionId, resumeToken } = await create(server, "open", { key: creator });
    const path = `/submissions/${submissionId}`;
    if (what === "revoked") await server.call("POST", `${path}/tokens/revoke`, { key: creator, body: {} });
    const body = { resumeToken: what === "revoked" ? resumeToken : "rtok_short", fields: {} };
    const reply = await server.call("PATCH", `${path}/fields`, { key: creator, body });
    const now = (await server.call("GET", path, { key: creator })).body;
    expect(reply.body).toMatchObject({ submissionId, state: "draft", version: now.version });
    expect(reply.body.resumeToken).toBe(what === "revoked" ? undefined : resumeToken);
    expect(reply.body.error.nextActions).not.toHaveLength(0);
  },
);
