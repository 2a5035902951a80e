import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createMailbox, handOff, type Mailbox, visit as openVisit, visitor } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { created, submit } from "../support/moves.ts";
import { drain, gated, JOBS_BY_HAND, reject, review, reviewerKey, submitted } from "../support/reviews.ts";

const DAY = 86_400_000;
const JANE = "jane@example.com";
const ADA = "ada@example.com";

let server: TestServer;
let post: Mailbox;
let rosa: string;
let ada: string;

beforeAll(async () => {
  post = createMailbox();
  server = await startTestServer({ mailer: post, env: JOBS_BY_HAND });
  rosa = await reviewerKey(server, "rosa");
  ada = await server.makeKey({ roles: ["agent"], actor: { kind: "human", id: "ada", metadata: { email: ADA } } });
});
afterAll(() => server.stop());
beforeEach(async () => {
  post.broken = false;
  await drain(server);
  post.mails.splice(0);
});

const jobs = (): Promise<number> => server.server.core.backend.jobs.count();
const told = () => post.mails.map(({ to, subject }) => [to, subject]);

describe("news", () => {
  it("[NOTICES-REJECTED] a rejection is sent to the person who submitted, with its reasons", async () => {
    const intake = await gated(server, [{ name: "check", reviewers: {} }], { name: "Travel costs" });
    const { submissionId: id } = await submitted(server, intake, { key: ada });
    await reject(server, id, rosa, "the <b>date</b> is missing & so is the place");
    await drain(server);
    expect(told()).toEqual([[ADA, "Please look at it again: Travel costs"]]);
    const [mail] = post.mails;
    expect(mail?.text).toContain("- the <b>date</b> is missing & so is the place");
    expect(mail?.html).toContain("<li>the &lt;b&gt;date&lt;/b&gt; is missing &amp; so is the place</li>");
    expect(mail?.text).toContain(id);
  });

  it("[NOTICES-FINISHED] a successful end is sent once", async () => {
    const intake = await gated(server, [{ name: "check", reviewers: {} }], { name: "Travel costs" });
    const { submissionId: id } = await submitted(server, intake, { key: ada });
    await review(server, id, rosa);
    await drain(server);
    server.clock.advance(DAY);
    await drain(server);
    expect(told()).toEqual([[ADA, "Done: Travel costs"]]);
  });

  it("[NOTICES-EXPIRING] the person working on it is warned before it expires", async () => {
    const intake = await gated(server, [], { name: "Travel costs" });
    await created(server, intake, { key: ada, body: { ttlMs: 10 * DAY } });
    server.clock.advance(8 * DAY + 1);
    await server.server.core.operations.sweep();
    await drain(server);
    expect(told()).toEqual([[ADA, "Expiring soon: Travel costs"]]);
  });

  it("[NOTICES-ADDRESS] is sent to the person whom the submission was handed to by mail, and who opened it", async () => {
    const intake = await gated(server, [{ name: "check", reviewers: {} }], { name: "Travel costs" });
    const made = await created(server, intake, { body: { initialFields: { name: "Ada" } } });
    await handOff(server, made.resumeToken, { kind: "magic_link", recipientEmail: JANE });
    const opened = await server.call("POST", `/submissions/${made.submissionId}/sessions`, {
      body: { code: post.lastCode(), email: JANE, carrier: "header", actor: { kind: "human", id: "jane-roe" } },
    });
    expect(opened.status).toBe(201);
    const jane = visitor(server, made.submissionId, opened.body.session);
    const done = await jane.call("POST", "/submit", { body: { version: made.version, idempotencyKey: "handed" } });
    expect(done.body.state).toBe("needs_review");
    post.mails.splice(0);
    await reject(server, made.submissionId, rosa, "more");
    await drain(server);
    expect(told()).toEqual([[JANE, "Please look at it again: Travel costs"]]);
  });

  it("[NOTICES-ADDRESS] a declared address gets no mail", async () => {
    const intake = await gated(server, [{ name: "check", reviewers: {} }]);
    const actor = { kind: "human", id: "mallory", metadata: { email: "victim@example.com" } };
    const made = await created(server, intake, { body: { actor, initialFields: { name: "Ada" } } });
    await submit(server, made.resumeToken, "declared", { body: { actor } });
    await reject(server, made.submissionId, rosa);
    await drain(server);
    expect(post.mails).toEqual([]);
    expect(await jobs()).toBe(0);
  });

  it("[NOTICES-ADDRESS] an address written into a hand-off gets no mail either", async () => {
    const intake = await gated(server, [{ name: "check", reviewers: {} }]);
    const made = await created(server, intake, { body: { initialFields: { name: "Ada" } } });
    const victim = { kind: "human", id: "victim@example.com", metadata: { email: "victim@example.com" } };
    const visit = await openVisit(server, await handOff(server, made.resumeToken, { allowedActors: [victim] }));
    await visit.call("POST", "/submit", { body: { version: made.version, idempotencyKey: "handed-on" } });
    await reject(server, made.submissionId, rosa);
    await drain(server);
    expect(post.mails).toEqual([]);
    expect(await jobs()).toBe(0);
  });

  it("[NOTICES-PASSED] an outdated notice is not sent", async () => {
    const idle = await startTestServer({ mailer: post });
    try {
      const intake = await gated(idle, [{ name: "check", reviewers: { ids: ["boss"], emails: [JANE] } }]);
      const { submissionId: decided } = await submitted(idle, intake);
      const { submissionId: gone } = await submitted(idle, intake, { key: idle.adminKey });
      const boss = await idle.makeKey({ roles: ["admin"], actor: { kind: "human", id: "boss" } });
      await reject(idle, decided, boss);
      for (const id of [decided, gone]) await idle.call("DELETE", `/submissions/${id}`, { key: boss });
      const { backend, operations } = idle.server.core;
      const late = await backend.jobs.claim({ limit: 10, leaseMs: DAY, perLane: 10, busy: new Map() });
      expect(late.map(({ key }) => key).toSorted()).toEqual(
        [`notify:rejected:${decided}`, `notify:review:${decided}:0:0`, `notify:review:${gone}:0:0`].toSorted(),
      );
      for (const job of late) await operations.notify(job, new AbortController().signal);
      expect(post.mails).toEqual([]);
      expect(await backend.jobs.count()).toBe(0);
    } finally {
      await idle.stop();
    }
  });
});

describe("mail that fails", () => {
  it("[NOTICES-RETRIED] is retried with a new link, and given up in the end", async () => {
    const intake = await gated(server, [{ name: "check", reviewers: { roles: ["admin"], emails: [JANE] } }]);
    post.broken = true;
    // A submission under review keeps one more job: its token lapses eventually.
    const others = (await jobs()) + 1;
    await submitted(server, intake);
    for (let attempt = 0; attempt < 3; attempt++) {
      await drain(server);
      expect(await jobs()).toBe(others + 1);
      server.clock.advance(6 * 3_600_000);
    }
    post.broken = false;
    await drain(server);
    expect(post.mails.map(({ to }) => to)).toEqual([JANE]);
    expect((await server.call("GET", `/reviews/${post.reviewLink(JANE)}`)).status).toBe(200);
    expect(await jobs()).toBe(others);

    post.broken = true;
    const { submissionId: id } = await submitted(server, intake);
    for (let attempt = 0; attempt < 8; attempt++) {
      expect(await jobs()).toBe(others + 2);
      await drain(server);
      server.clock.advance(6 * 3_600_000);
    }
    expect(await jobs()).toBe(others + 1);
    expect((await review(server, id, server.adminKey)).status).toBe(200);
  });

  it("[NOTICES-RETRIED] notices that can't be written are given up in the end, too", async () => {
    const { handoffs } = server.server.core.backend;
    const broken = vi.spyOn(handoffs, "ofSubmission").mockRejectedValue(new Error("a row that can't be opened"));
    const intake = await gated(server, []);
    const others = await jobs();
    await submitted(server, intake, { key: ada });
    for (let attempt = 0; attempt < 8; attempt++) {
      expect(await jobs()).toBe(others + 1);
      await drain(server);
      server.clock.advance(6 * 3_600_000);
    }
    expect(await jobs()).toBe(others);
    broken.mockRestore();
  });

  it("[NOTICES-RETRIED] does not delay the caller", async () => {
    const intake = await gated(server, [{ name: "check", reviewers: { emails: [JANE] } }]);
    post.broken = true;
    const others = (await jobs()) + 1;
    const made = await submitted(server, intake);
    expect(made.state).toBe("needs_review");
    expect(await jobs()).toBe(others + 1);
  });

  it("[NOTICES-NO-MAIL] without a mail server nothing is enqueued and nothing fails", async () => {
    const plain = await startTestServer({ env: JOBS_BY_HAND });
    try {
      const intake = await gated(plain, [{ name: "check", reviewers: { roles: ["admin"], emails: [JANE] } }]);
      const { state, submissionId: id } = await submitted(plain, intake);
      expect(state).toBe("needs_review");
      // Only the job for when its token lapses.
      expect(await plain.server.core.backend.jobs.count()).toBe(1);
      expect((await review(plain, id, plain.adminKey)).body.state).toBe("finalized");
    } finally {
      await plain.stop();
    }
  });
});

describe("contents of mail", () => {
  it("[NOTICES-SAFE] a name with line breaks and markup stays one subject line, and text", async () => {
    const name = 'Costs\r\nBcc: eve@example.com\n<img src="https://evil.invalid/x">';
    const intake = await gated(server, [{ name: "le\r\ngal <i>", reviewers: { emails: [JANE] } }], { name });
    await submitted(server, intake, { fields: { name: "Secret Agent" } });
    await drain(server);
    const [mail] = post.mails as [Loose];
    expect(mail.subject).toBe('Your review is needed: Costs Bcc: eve@example.com <img src="https://evil.invalid/x">');
    expect(mail.html).not.toMatch(/<img|<i>/);
    expect(mail.html).toContain("&lt;img src=&quot;https://evil.invalid/x&quot;&gt;");
    expect(mail.text + mail.html).not.toContain("Secret Agent");
    expect(`${mail.text}${mail.html}`).not.toMatch(/rtok_|sess_|fbk_/);
  });

  it("[NOTICES-SAFE] a long name is cut in the subject", async () => {
    const intake = await gated(server, [{ name: "check", reviewers: { emails: [JANE] } }], { name: "🙂".repeat(200) });
    await submitted(server, intake);
    await drain(server);
    expect([...(post.mails[0]?.subject ?? "")].length).toBeLessThanOrEqual(150);
  });
});
