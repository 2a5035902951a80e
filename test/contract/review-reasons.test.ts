import type { ApprovalGate } from "@formbridge/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMailbox, type Mailbox } from "../support/handoffs.ts";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { eventsOf, read } from "../support/moves.ts";
import { drain, gated, JOBS_BY_HAND, review, reviewerKey, submitted } from "../support/reviews.ts";

const JANE = "jane@example.com";
const KIM = "kim@example.com";
const SCHEMA = {
  type: "object",
  additionalProperties: false,
  properties: {
    name: { type: "string" },
    iban: { type: "string", "x-sensitive": true },
    items: { type: "array", items: { type: "object", properties: { price: { type: "number" } } } },
  },
};

let server: TestServer;
let post: Mailbox;
let rosa: string;

beforeAll(async () => {
  post = createMailbox();
  server = await startTestServer({ mailer: post, env: JOBS_BY_HAND });
  rosa = await reviewerKey(server, "rosa");
});
afterAll(() => server.stop());

const gate = (more: Partial<ApprovalGate> = {}): ApprovalGate => ({
  name: "legal",
  reviewers: { ids: ["rosa"], emails: [JANE, KIM] },
  ...more,
});

async function waiting(gates: ApprovalGate[] = [gate()], more: Loose = {}): Promise<{ id: string }> {
  const intake = await gated(server, gates, { schema: SCHEMA as never, ...more });
  const fields = { name: "Ada", iban: "DE00 1234", items: [{ price: 2 }] };
  const { submissionId: id } = await submitted(server, intake, { fields });
  await drain(server);
  return { id };
}
const look = async (id: string): Promise<Loose> => (await read(server, id, server.adminKey)).body;
const byLink = (email: string, body: Loose): Promise<Reply> =>
  server.call("POST", `/reviews/${post.reviewLink(email)}`, { body });
const fieldReasons = { name: "The full name, please.", "items.0.price": "Too low." };

describe("what a reviewer says", () => {
  it("[REVIEWS-FIELD-REASONS] a rejection can say what is wrong with single fields, by key and by link", async () => {
    for (const decide of [
      (id: string, body: Loose) => review(server, id, rosa, body),
      (_id: string, body: Loose) => byLink(JANE, body),
    ]) {
      const { id } = await waiting();
      const reply = await decide(id, { decision: "rejected", fieldReasons });
      expect([reply.status, reply.body]).toMatchObject([200, { state: "rejected", fieldReasons }]);
      const record = await look(id);
      expect(record.rejections).toMatchObject([{ reasons: [], fieldReasons, gate: "legal" }]);
      expect(record.reviewState).toMatchObject({ decision: "rejected", fieldReasons });
      const [event] = await eventsOf(server, id, "types=review.rejected");
      expect(event.payload).toEqual({ gate: "legal", reasons: [], fieldReasons });
    }
  });

  it("[REVIEWS-FIELD-REASONS] refuses blank ones, fields that are not there, and reasons for an approval", async () => {
    const { id } = await waiting();
    const wrong: [Loose, string][] = [
      [{ decision: "rejected", fieldReasons: {} }, "reasons"],
      [{ decision: "rejected", fieldReasons: { name: " " } }, "reasons"],
      [{ decision: "rejected", reasons: ["no"], fieldReasons: { nmae: "typo" } }, "fieldReasons.nmae"],
      [{ decision: "rejected", fieldReasons: { __proto__x: "no" } }, "fieldReasons.__proto__x"],
      [{ decision: "approved", fieldReasons }, "fieldReasons"],
      [{ decision: "approved", comment: "\u200b" }, "comment"],
      [{ decision: "rejected", reasons: ["no"], comment: "hm" }, "comment"],
    ];
    for (const [body, path] of wrong) {
      const reply = await review(server, id, rosa, body);
      expect([body, reply.status, reply.body.error?.fields?.[0]?.path]).toEqual([body, 422, path]);
    }
    expect((await look(id)).state).toBe("needs_review");
    expect((await review(server, id, rosa, { fieldReasons: { name: 1 } })).status).toBe(400);
  });

  it("[REVIEWS-COMMENT] an approval may have a comment, which the next reviewer and the history see", async () => {
    const { id } = await waiting([gate({ requiredApprovals: 2 })]);
    const first = await byLink(JANE, { decision: "approved", comment: "I called them." });
    expect([first.status, first.body]).toMatchObject([200, { state: "needs_review", comment: "I called them." }]);
    const shown = await server.call("GET", `/reviews/${post.reviewLink(KIM)}`);
    expect(shown.body.reviewState.approvals).toMatchObject([{ by: { id: JANE }, comment: "I called them." }]);
    const [event] = await eventsOf(server, id, "types=review.approved");
    expect(event.payload).toEqual({ gate: "legal", auto: false, gatePassed: false, comment: "I called them." });
  });
});

describe("what a review link shows beside the record", () => {
  it("[REVIEWS-LINK-INTAKE] how to render it: labels, steps, translations and branding", async () => {
    const uiHints = { steps: [{ id: "who", title: "Who", fields: ["name"] }], fieldHints: { name: { label: "Name" } } };
    const translations = { de: { name: "Antrag", fields: { name: { label: "Name, Vorname" } } } };
    const branding = { name: "Acme" };
    await waiting([gate()], { name: "Request", uiHints, translations, branding });
    const { body } = await server.call("GET", `/reviews/${post.reviewLink(JANE)}`);
    expect(body.intake).toMatchObject({ name: "Request", schema: SCHEMA, uiHints, translations, branding });
    expect(JSON.stringify(body.intake)).not.toMatch(/approvalGates|destination/);
  });

  it("[REVIEWS-LINK-HISTORY] the history of the submission, sensitive values masked, in pages; not its audit", async () => {
    const { id } = await waiting();
    const link = post.reviewLink(JANE);
    const { body } = await server.call("GET", `/reviews/${link}/events`);
    const whole = await eventsOf(server, id, "stream=submission");
    expect(body.events.map(({ eventId }: Loose) => eventId)).toEqual(whole.map(({ eventId }: Loose) => eventId));
    expect(JSON.stringify(body)).not.toMatch(/DE00|rtok_|rvw_|ipAddress/);
    const page = await server.call("GET", `/reviews/${link}/events?limit=1&afterEventId=${whole[0].eventId}`);
    expect(page.body).toMatchObject({ events: [{ eventId: whole[1].eventId }], hasMore: true });
    expect((await server.call("GET", `/reviews/${link}/events?stream=token`)).status).toBe(400);
    expect((await server.call("GET", `/reviews/rvw_${"a".repeat(43)}/events`)).status).toBe(404);
    await review(server, id, rosa);
    expect((await server.call("GET", `/reviews/${link}/events`)).status).toBe(410);
  });

  it("[REVIEWS-LINK-BARRED] that its holder can't decide, and why", async () => {
    const { id } = await waiting();
    const link = post.reviewLink(JANE);
    await server.call("POST", `/submissions/${id}/review/reassign`, {
      key: server.adminKey,
      body: { reviewers: { emails: [KIM] }, reason: "Jane is away" },
    });
    const { body } = await server.call("GET", `/reviews/${link}`);
    expect(body.review).toMatchObject({ decisions: [], barred: "not_a_reviewer" });
    expect((await server.call("POST", `/reviews/${link}`, { body: { decision: "approved" } })).status).toBe(403);

    await waiting([gate({ requiredApprovals: 2 })]);
    const key = await reviewerKey(server, "jane", JANE);
    const other = post.reviewLink(JANE);
    const { submissionId } = (await server.call("GET", `/reviews/${other}`)).body;
    await review(server, submissionId, key);
    expect((await server.call("GET", `/reviews/${other}`)).body.review).toMatchObject({ barred: "already_approved" });
  });
});
