import type { ApprovalGate } from "@formbridge/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createValidator } from "../hostile/operations.ts";
import { createMailbox, handOff, type Mailbox, visitor } from "../support/handoffs.ts";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { created, createLatch, eventsOf, read, setFields, submit, until } from "../support/moves.ts";
import { drain, gated, JOBS_BY_HAND, reject, review, reviewerKey, submitted } from "../support/reviews.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const JANE = "jane@example.com";
const KIM = "kim@example.com";

let server: TestServer;
let post: Mailbox;
let rosa: string;

beforeAll(async () => {
  post = createMailbox();
  server = await startTestServer({ mailer: post, env: JOBS_BY_HAND });
  rosa = await reviewerKey(server, "rosa");
});
afterAll(() => server.stop());
beforeEach(() => {
  post.mails.splice(0);
  post.broken = false;
});

const byMail = (more: Partial<ApprovalGate> = {}): ApprovalGate => ({
  name: "legal",
  reviewers: { ids: ["rosa"], emails: [JANE, KIM] },
  ...more,
});
const show = (link: string): Promise<Reply> => server.call("GET", `/reviews/${link}`);
const decide = (link: string, body: Loose = {}): Promise<Reply> =>
  server.call("POST", `/reviews/${link}`, { body: { decision: "approved", ...body } });
const look = async (id: string): Promise<Loose> => (await read(server, id, server.adminKey)).body;

/** A submission under review, with the mailed links. */
async function asked(gates: ApprovalGate[] = [byMail()], more: Loose = {}) {
  const { fields, ...definition } = more;
  const intake = await gated(server, gates, definition);
  const { submissionId: id, version } = await submitted(server, intake, fields && { fields });
  await drain(server);
  return { id, version, intake, jane: post.reviewLink(JANE), kim: post.reviewLink(KIM) };
}

const gone = (reply: Reply) => [reply.status, reply.body.error?.type, reply.body.error?.reason];

describe("a review link", () => {
  it("[REVIEWS-LINK] is mailed to each address of the gate, each its own", async () => {
    const { jane, kim } = await asked();
    expect(jane).toMatch(/^rvw_[A-Za-z0-9_-]{43}$/);
    expect(kim).toMatch(/^rvw_[A-Za-z0-9_-]{43}$/);
    expect(jane).not.toBe(kim);
    expect(post.mails.map(({ to }) => to).toSorted()).toEqual([JANE, KIM]);
    const mail = post.mails.find(({ to }) => to === JANE);
    for (const body of [mail?.text, mail?.html]) expect(body).toContain(`${server.url}/reviews/${jane}`);
  });

  it("[REVIEWS-LABEL] names the gate by its label, as do the mail, the queue, the record and refusals", async () => {
    const { id, jane, intake } = await asked([byMail({ label: "Legal team" })]);
    const named = { gate: "legal", gateLabel: "Legal team" };
    expect(post.mails.find(({ to }) => to === JANE)?.text).toContain("your decision at Legal team");
    expect((await show(jane)).body.review).toMatchObject(named);
    const queue = await server.call("GET", `/reviews?intakeId=${intake}`, { key: rosa });
    expect(queue.body.items).toEqual([expect.objectContaining(named)]);
    expect((await review(server, id, await reviewerKey(server, "olga"))).status).toBe(404);
    const refused = await review(server, id, server.adminKey);
    expect(refused.body.error.message).toContain("The gate Legal team has other reviewers");
    expect((await look(id)).reviewState).toMatchObject(named);
    await reject(server, id, rosa);
    expect((await look(id)).rejections).toEqual([expect.objectContaining(named)]);
  });

  it("[REVIEWS-LINK-SHOWS] shows the submission, sensitive values in clear, and what can be decided", async () => {
    const schema = {
      type: "object",
      properties: { name: { type: "string" }, iban: { type: "string", "x-sensitive": true } },
      required: ["name"],
    };
    const fields = { name: "Ada", iban: "DE00 1234" };
    const { jane, id, version } = await asked([byMail({ requiredApprovals: 2 })], { schema, fields });
    const reply = await show(jane);
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({
      ok: true,
      submissionId: id,
      state: "needs_review",
      version,
      fields,
      reviewState: { gate: "legal", approvals: [], requiredApprovals: 2 },
      review: { gate: "legal", reviewer: JANE, decisions: ["approved", "rejected"] },
    });
    const { body: document } = await server.call("GET", "/openapi.json");
    const declared = document.paths["/reviews/{link}"].get.responses["200"].content["application/json"].schema;
    expect(createValidator().compile(declared)(reply.body)).toBe(true);
    expect(JSON.stringify([reply.body, reply.headers])).not.toMatch(/rtok_|rvw_/);
    expect(reply.headers["cache-control"]).toBe("no-store");
  });

  it("[REVIEWS-LINK-SHOWS] is not used up by being opened, however often", async () => {
    const { jane, id } = await asked();
    const before = await eventsOf(server, id);
    for (let count = 0; count < 5; count++) expect((await show(jane)).status).toBe(200);
    expect((await server.call("HEAD", `/reviews/${jane}`)).status).toBe(200);
    expect(await eventsOf(server, id)).toEqual(before);
    expect((await decide(jane)).status).toBe(200);
  });

  it("[REVIEWS-LINK-DECIDES] decides as the person it was mailed to, who is identified and not declared", async () => {
    const { jane, id, version } = await asked();
    const reply = await decide(jane);
    expect([reply.status, reply.body]).toMatchObject([
      200,
      { state: "finalized", version: version + 1, decision: "approved", reviewedBy: { kind: "human", id: JANE } },
    ]);
    expect(JSON.stringify([reply.body, reply.headers])).not.toContain("rtok_");
    const [approved] = await eventsOf(server, id, "types=review.approved");
    expect(approved.actor).toEqual({ kind: "human", id: JANE, metadata: { email: JANE }, proof: "link" });
  });

  it("[REVIEWS-LINK-DECIDES] rejects with reasons, and a refused decision does not use it up", async () => {
    const { jane, id } = await asked();
    for (const body of [{ decision: "rejected" }, { decision: "rejected", reasons: [] }]) {
      expect((await decide(jane, body)).status).toBe(422);
    }
    expect((await decide(jane, { decision: "maybe" })).status).toBe(400);
    expect((await decide(jane, { actor: { kind: "human", id: "somebody-else" } })).status).toBe(403);
    const reply = await decide(jane, {
      decision: "rejected",
      reasons: ["no date"],
      actor: { kind: "human", id: JANE },
    });
    expect([reply.status, reply.body.state]).toEqual([200, "rejected"]);
    expect((await look(id)).rejections).toMatchObject([{ reasons: ["no date"], by: { id: JANE } }]);
  });

  it("[REVIEWS-LINK-ONCE] works once: a second use is a 410 that explains it", async () => {
    const { jane, id } = await asked([byMail({ requiredApprovals: 2 })]);
    expect((await decide(jane)).body.state).toBe("needs_review");
    for (const reply of [await decide(jane), await show(jane)]) {
      expect(gone(reply)).toEqual([410, "token_expired", "link_spent"]);
      expect(reply.body.error.message).toContain("once");
    }
    expect((await look(id)).reviewState.approvals).toHaveLength(1);
  });

  it("[REVIEWS-LINK-ONCE] of many uses at the same moment one decides", async () => {
    const { jane, kim, id } = await asked([byMail({ requiredApprovals: 2 })]);
    const { store } = server.server.core.backend;
    const { commit } = store;
    const latch = createLatch();
    let held = 0;
    store.commit = async (change) => {
      held += 1;
      await latch.opened;
      return await commit(change);
    };
    const uses = [jane, jane, jane, kim].map((link) => decide(link));
    await until(() => held >= 4 || undefined);
    store.commit = commit;
    latch.open();
    const replies = await Promise.all(uses);
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 410, 410]);
    expect((await look(id)).state).toBe("finalized");
    expect((await eventsOf(server, id, "types=review.approved")).map(({ actor }) => actor.id).toSorted()).toEqual([
      JANE,
      KIM,
    ]);
  });

  it("[REVIEWS-LINK-OVER] is a 410 when the gate was decided otherwise, and after a new submit", async () => {
    const { jane, kim, id } = await asked();
    await reject(server, id, rosa);
    expect(gone(await decide(jane))).toEqual([410, "token_expired", "review_decided"]);
    const mended = await setFields(server, (await look(id)).resumeToken, { note: "better" });
    await submit(server, mended.body.resumeToken, "again");
    expect(gone(await show(jane))).toEqual([410, "token_expired", "review_decided"]);
    await drain(server);
    const anew = post.reviewLink(JANE);
    expect(anew).not.toBe(jane);
    expect(gone(await decide(kim))).toEqual([410, "token_expired", "review_decided"]);
    expect((await decide(anew)).body.state).toBe("finalized");
  });

  it("[REVIEWS-LINK-OVER] is a 410 at the next gate, for a cancelled and for a finalized submission", async () => {
    const next = await asked([byMail(), { name: "second", reviewers: { emails: [KIM] } }]);
    await review(server, next.id, rosa);
    expect(gone(await decide(next.jane))).toEqual([410, "token_expired", "review_decided"]);
    const cancelled = await asked();
    await server.call("DELETE", `/submissions/${cancelled.id}`, { key: server.adminKey });
    for (const reply of [await show(cancelled.jane), await decide(cancelled.jane)]) {
      expect(gone(reply).slice(0, 2)).toEqual([410, "cancelled"]);
    }
    const done = await asked();
    await review(server, done.id, rosa);
    expect(gone(await decide(done.jane))).toEqual([410, "token_expired", "finalized"]);
  });

  it("[REVIEWS-LINK-OVER] has its own expiry", async () => {
    const { jane, id } = await asked();
    server.clock.advance(7 * DAY);
    expect((await show(jane)).status).toBe(200);
    server.clock.advance(30_000);
    for (const reply of [await show(jane), await decide(jane)]) {
      expect(gone(reply)).toEqual([410, "token_expired", "ttl_elapsed"]);
    }
    expect((await look(id)).state).toBe("needs_review");
  });

  it("[REVIEWS-LINK-FORGOTTEN] is removed some time after it ended", async () => {
    const { jane } = await asked();
    server.clock.advance(7 * DAY + 1);
    await server.server.core.operations.sweep();
    expect((await show(jane)).status).not.toBe(404);
    server.clock.advance(8 * DAY);
    await server.server.core.operations.sweep();
    expect((await show(jane)).status).toBe(404);
  });

  it("[REVIEWS-LINK-UNKNOWN] malformed is a 400, unknown a 404, whatever is in its place", async () => {
    for (const link of ["rvw_short", "rvw_", `rvw_${"!".repeat(43)}`, `rtok_${"a".repeat(43)}`, "x", "%00"]) {
      const reply = await decide(link);
      expect([link, ...gone(reply)]).toEqual([link, 400, "token_invalid", "malformed"]);
    }
    const { jane } = await asked();
    const strangers = [`rvw_${"a".repeat(43)}`, jane.slice(0, -1) + (jane.endsWith("A") ? "B" : "A")];
    for (const link of strangers) {
      for (const reply of [await show(link), await decide(link)]) {
        expect(gone(reply)).toEqual([404, "token_invalid", "unknown"]);
        expect(Object.keys(reply.body).toSorted()).toEqual(["error", "ok"]);
      }
    }
    expect((await decide(jane)).status).toBe(200);
  });

  it("[REVIEWS-LINK-AT-REST] is not stored in clear, neither in the store nor in the history", async () => {
    const { jane, kim, id } = await asked();
    await decide(jane);
    const rest = await server.atRest();
    for (const link of [jane, kim]) expect(rest).not.toContain(link.slice(4));
    expect(JSON.stringify(await eventsOf(server, id))).not.toMatch(/rvw_/);
  });
});

describe("one person", () => {
  it("[REVIEWS-ONE-PERSON] counts once, by key and by link", async () => {
    const { jane, kim, id } = await asked([byMail({ requiredApprovals: 2 })]);
    const key = await reviewerKey(server, "jane", "Jane@Example.com");
    expect((await review(server, id, key)).body.state).toBe("needs_review");
    const again = await decide(jane);
    expect([again.status, again.body.error.type]).toEqual([409, "conflict"]);
    expect((await decide(kim)).body.state).toBe("finalized");
  });

  it("[REVIEWS-ONE-PERSON] is not asked to review what they submitted", async () => {
    const author = await server.makeKey({
      roles: ["agent"],
      actor: { kind: "human", id: "jane", metadata: { email: JANE } },
    });
    const intake = await gated(server, [byMail()]);
    await submitted(server, intake, { key: author });
    await drain(server);
    expect(post.mails.map(({ to }) => to)).toEqual([KIM]);
  });

  it("[REVIEWS-ONE-PERSON] is recognized by the address that a code was mailed to, whatever name they submit under", async () => {
    const key = await reviewerKey(server, "jane-by-key", JANE);
    const bob = { kind: "human", id: "bob", metadata: { email: "bob@example.com" } };
    for (const more of [{}, { allowedActors: [bob] }]) {
      const made = await created(server, await gated(server, [byMail()]), { body: { initialFields: { name: "Ada" } } });
      const { submissionId: id } = made;
      await handOff(server, made.resumeToken, { kind: "magic_link", recipientEmail: JANE, ...more });
      const proof = { code: post.lastCode(), email: JANE, actor: bob, carrier: "header" };
      const { session } = (await server.call("POST", `/submissions/${id}/sessions`, { body: proof })).body;
      post.mails.splice(0);
      const body = { version: 1, idempotencyKey: crypto.randomUUID() };
      const done = await visitor(server, id, session).call("POST", "/submit", { body });
      expect(done.body.state).toBe("needs_review");
      await drain(server);
      expect(post.mails.map(({ to }) => to)).toEqual([KIM]);
      expect((await review(server, id, key)).body.error).toMatchObject({
        type: "forbidden",
        message: "Nobody reviews what they submitted. Somebody else has to decide.",
      });
    }
  });
});

describe("escalation", () => {
  it("[REVIEWS-LINK-ESCALATED] mails a link to the people in escalateTo, once it has escalated", async () => {
    const gate = byMail({
      reviewers: { emails: [JANE], escalateTo: { emails: ["boss@example.com", JANE] } },
      escalateAfterMs: HOUR,
    });
    const { jane } = await asked([gate]);
    expect(post.mails.map(({ to }) => to)).toEqual([JANE]);
    server.clock.advance(HOUR);
    await drain(server);
    expect(post.mails.map(({ to }) => to)).toEqual([JANE, "boss@example.com"]);
    expect((await show(jane)).body.reviewState.escalatedAt).toEqual(expect.any(String));
    const reply = await decide(post.reviewLink("boss@example.com"));
    expect([reply.status, reply.body.state]).toEqual([200, "finalized"]);
    expect(gone(await decide(jane))).toEqual([410, "token_expired", "finalized"]);
  });
});

describe("guessing", () => {
  it("[REVIEWS-LINK-RATE] unknown links count as failed lookups", async () => {
    const strict = await startTestServer({ env: { FORMBRIDGE_RATE_LIMIT: "on" } });
    try {
      const answers = [];
      for (let count = 0; count < 12; count++) {
        answers.push((await strict.call("GET", `/reviews/rvw_${"g".repeat(43)}`)).status);
      }
      expect(answers.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 404));
      expect(answers.slice(10)).toEqual([429, 429]);
    } finally {
      await strict.stop();
    }
  });

  it("[REVIEWS-LINK-UNKNOWN] a link is neither a token nor a session, and these are no links", async () => {
    const { jane, intake } = await asked();
    expect((await server.call("GET", `/resume/${jane}`)).status).toBe(400);
    expect((await server.call("GET", "/submissions", { key: jane })).status).toBe(401);
    const { resumeToken } = await created(server, intake);
    expect((await show(resumeToken)).status).toBe(400);
  });
});
