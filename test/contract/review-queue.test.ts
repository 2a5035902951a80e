import type { ApprovalGate } from "@formbridge/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { created, read, submit } from "../support/moves.ts";
import { gated, reject, review, reviewerKey, submitted } from "../support/reviews.ts";

let server: TestServer;
let rosa: string;
let otto: string;

beforeAll(async () => {
  server = await startTestServer();
  rosa = await reviewerKey(server, "rosa");
  otto = await reviewerKey(server, "otto", "Otto@Example.com");
});
afterAll(() => server.stop());

const queue = async (key: string, query = ""): Promise<Loose> => {
  const reply = await server.call("GET", `/reviews?${query}`, { key });
  expect(reply.status).toBe(200);
  return reply.body;
};
const idsIn = async (key: string, query = ""): Promise<string[]> =>
  (await queue(key, query)).items.map(({ submissionId }: Loose) => submissionId);

/** Submitted one after another; returns the ids. */
async function waiting(intake: string, count: number): Promise<string[]> {
  const ids = [];
  for (let made = 0; made < count; made++) {
    ids.push((await submitted(server, intake)).submissionId);
    server.clock.advance(1000);
  }
  return ids;
}

describe("a reviewer's queue", () => {
  it("[REVIEWS-QUEUE] shows what is waiting at which gate, since when, and how many have approved", async () => {
    const gates: ApprovalGate[] = [{ name: "legal", reviewers: { ids: ["rosa", "otto"] }, requiredApprovals: 2 }];
    const intake = await gated(server, gates);
    const [id] = await waiting(intake, 1);
    const { version, createdAt } = (await read(server, id ?? "", server.adminKey)).body;
    const item = {
      submissionId: id,
      intakeId: intake,
      intakeName: intake,
      version,
      gate: "legal",
      requestedAt: createdAt,
      approvals: 0,
      requiredApprovals: 2,
      createdAt,
      createdBy: { kind: "agent", id: "bot", declared: true },
      submittedBy: { kind: "agent", id: "bot", declared: true },
    };
    expect((await queue(rosa, `intakeId=${intake}`)).items).toEqual([item]);
    await review(server, id ?? "", rosa);
    expect((await queue(otto, `intakeId=${intake}`)).items).toEqual([{ ...item, version: version + 1, approvals: 1 }]);
  });

  it("[REVIEWS-QUEUE-OWN] shows what this reviewer may decide now, and nothing else", async () => {
    const intake = await gated(server, [
      { name: "first", reviewers: { ids: ["rosa"], emails: ["otto@example.com"] }, requiredApprovals: 2 },
      { name: "second", reviewers: { emails: ["otto@example.com"] } },
    ]);
    const [id = ""] = await waiting(intake, 1);
    const both = async () => [await idsIn(rosa, `intakeId=${intake}`), await idsIn(otto, `intakeId=${intake}`)];
    expect(await both()).toEqual([[id], [id]]);
    await review(server, id, rosa);
    expect(await both()).toEqual([[], [id]]);
    await review(server, id, otto);
    expect(await both()).toEqual([[], [id]]);
    await review(server, id, otto);
    expect(await both()).toEqual([[], []]);
  });

  it("[REVIEWS-QUEUE-OWN] leaves out what the reviewer submitted, what is not submitted, and what was decided", async () => {
    const intake = await gated(server, [{ name: "check", reviewers: {} }]);
    const both = await server.makeKey({ roles: ["agent", "reviewer"], actor: { kind: "human", id: "both" } });
    const { submissionId: own } = await submitted(server, intake, { key: both });
    const { submissionId: rejected } = await submitted(server, intake);
    const { submissionId: cancelled } = await submitted(server, intake);
    await created(server, intake);
    await reject(server, rejected, rosa);
    await server.call("DELETE", `/submissions/${cancelled}`, { key: server.adminKey });
    expect(await idsIn(both, `intakeId=${intake}`)).toEqual([]);
    expect(await idsIn(rosa, `intakeId=${intake}`)).toEqual([own]);
    expect(await idsIn(server.adminKey, `intakeId=${intake}`)).toEqual([]);
  });

  it("[REVIEWS-QUEUE-PAGES] is sorted oldest first, in pages of any size, and a decision in between moves nothing", async () => {
    const intake = await gated(server, [{ name: "check", reviewers: {} }]);
    const ids = await waiting(intake, 7);
    const seen: string[] = [];
    let page = await queue(rosa, `intakeId=${intake}&limit=3`);
    seen.push(...page.items.map(({ submissionId }: Loose) => submissionId));
    await review(server, ids[0] ?? "", rosa);
    await review(server, ids[3] ?? "", rosa);
    while (page.nextPageToken !== undefined) {
      page = await queue(rosa, `pageToken=${page.nextPageToken}`);
      expect(page.items.length).toBeLessThanOrEqual(3);
      seen.push(...page.items.map(({ submissionId }: Loose) => submissionId));
    }
    expect(seen).toEqual(ids.filter((_, index) => index !== 3));
  });

  it("[REVIEWS-QUEUE-PAGES] a page reads a bounded number of others' work, and continues from there", async () => {
    const tenant = "crowd";
    const admin = await server.makeKey({ roles: ["admin"], actor: { kind: "human", id: "boss" }, tenant });
    const picky = await server.makeKey({ roles: ["reviewer"], actor: { kind: "human", id: "picky" }, tenant });
    for (const [id, who] of [
      ["crowd-others", "nobody"],
      ["crowd-mine", "picky"],
    ]) {
      await server.putIntake({ id: id ?? "", approvalGates: [{ name: "g", reviewers: { ids: [who ?? ""] } }] }, admin);
    }
    for (let count = 0; count < 12; count++) await submitted(server, "crowd-others");
    const { submissionId: mine } = await submitted(server, "crowd-mine");
    const { list } = server.server.core.backend.submissions;
    let looks = 0;
    server.server.core.backend.submissions.list = (...asked) => {
      looks += 1;
      return list(...asked);
    };
    const first = await queue(picky, "limit=1");
    server.server.core.backend.submissions.list = list;
    expect(looks).toBeLessThanOrEqual(5);
    expect(first.items).toEqual([]);
    expect(first.nextPageToken).toEqual(expect.any(String));
    const next = await queue(picky, `pageToken=${first.nextPageToken}`);
    expect(next.items).toMatchObject([{ submissionId: mine }]);
  });

  it("[REVIEWS-QUEUE-PAGES] a page token is for this list and its query", async () => {
    const intake = await gated(server, [{ name: "check", reviewers: {} }]);
    await waiting(intake, 2);
    const { nextPageToken } = await queue(rosa, `intakeId=${intake}&limit=1`);
    for (const path of [
      `/reviews?pageToken=${nextPageToken}&intakeId=other`,
      `/reviews?pageToken=${nextPageToken}x`,
      `/submissions?pageToken=${nextPageToken}`,
      "/reviews?limit=0",
      "/reviews?limit=1001",
      "/reviews?state=needs_review",
    ]) {
      expect([path, (await server.call("GET", path, { key: rosa })).status]).toEqual([path, 400]);
    }
  });

  it("[REVIEWS-QUEUE-ROLES] is for reviewers and admins, within their intakes and tenant", async () => {
    const intake = await gated(server, [{ name: "check", reviewers: {} }]);
    const [id] = await waiting(intake, 1);
    expect((await server.call("GET", "/reviews")).status).toBe(401);
    for (const roles of [["viewer"], ["agent"]] as const) {
      const key = await server.makeKey({ roles: [...roles], actor: { kind: "human", id: "vera" } });
      expect((await server.call("GET", "/reviews", { key })).status).toBe(403);
    }
    const actor = { kind: "human", id: "narrow" } as const;
    const elsewhere = await server.makeKey({ roles: ["reviewer"], actor, intakes: ["other"] });
    const here = await server.makeKey({ roles: ["reviewer"], actor, intakes: [intake] });
    const foreign = await server.makeKey({ roles: ["reviewer"], actor, tenant: "foreign" });
    expect(await idsIn(here)).toEqual([id]);
    for (const key of [elsewhere, foreign]) {
      expect(await idsIn(key)).toEqual([]);
      expect(await idsIn(key, `intakeId=${intake}`)).toEqual([]);
    }
  });
});

describe("one person", () => {
  it("[REVIEWS-ONE-PERSON] is recognized by the e-mail address too: two keys are not two approvals, nor is one's own work", async () => {
    const intake = await gated(server, [{ name: "four-eyes", reviewers: {}, requiredApprovals: 2 }]);
    const mia = await reviewerKey(server, "mia", "mia@example.com");
    const alsoMia = await reviewerKey(server, "mia-again", "MIA@example.com");
    const { submissionId: id } = await submitted(server, intake);
    expect((await review(server, id, mia)).status).toBe(200);
    const again = await review(server, id, alsoMia);
    expect([again.status, again.body.error.type]).toEqual([409, "conflict"]);
    const author = await server.makeKey({
      roles: ["agent"],
      actor: { kind: "agent", id: "mia-bot", metadata: { email: "mia@example.com" } },
    });
    const { submissionId: own } = await submitted(server, intake, { key: author });
    expect((await review(server, own, mia)).status).toBe(403);
    expect((await review(server, own, rosa)).status).toBe(200);
  });
});

describe("bad reviews", () => {
  it("[REVIEWS-REFUSED] by somebody else, twice, or of ended ones change nothing", async () => {
    const intake = await gated(server, [{ name: "check", reviewers: { ids: ["rosa", "otto"] }, requiredApprovals: 2 }]);
    const { submissionId: id } = await submitted(server, intake);
    const stranger = await reviewerKey(server, "stranger");
    expect((await review(server, id, stranger)).status).toBe(404);
    expect((await review(server, id, rosa)).status).toBe(200);
    expect((await review(server, id, rosa)).status).toBe(409);
    expect((await reject(server, id, rosa)).status).toBe(409);
    expect((await review(server, id, otto)).body.state).toBe("finalized");
    const late = await review(server, id, otto);
    expect([late.status, late.body.error.reason]).toEqual([410, "finalized"]);
    const draft = await created(server, intake);
    expect((await review(server, draft.submissionId, rosa)).status).toBe(409);
    expect((await read(server, id, server.adminKey)).body.reviewState.approvals).toHaveLength(2);
  });

  it("[RUNNING-GATES-FRESH] rejected, corrected and submitted again keeps every decision in the history", async () => {
    const intake = await gated(server, [
      { name: "first", reviewers: { ids: ["rosa"] } },
      { name: "second", reviewers: { ids: ["otto"] } },
    ]);
    const { submissionId: id } = await submitted(server, intake);
    await review(server, id, rosa);
    await reject(server, id, otto, "the note is missing");
    for (const round of ["one", "two"]) {
      const { resumeToken } = (await read(server, id, server.adminKey)).body;
      const mended = await server.call("PATCH", `/resume/${resumeToken}/fields`, {
        body: { actor: { kind: "agent", id: "bot" }, fields: { note: round } },
      });
      await submit(server, mended.body.resumeToken, `again-${round}`);
      if (round === "one") await reject(server, id, rosa, "the note is short");
    }
    await review(server, id, rosa);
    expect((await review(server, id, otto)).body.state).toBe("finalized");
    const events = await server.call("GET", `/submissions/${id}/events?limit=1000`, { key: server.adminKey });
    const told = events.body.events.filter(({ type }: Loose) => type.startsWith("review."));
    expect(told.map(({ type, payload, actor }: Loose) => [type.slice(7), payload.gate, actor.id])).toEqual([
      ["requested", "first", "bot"],
      ["approved", "first", "rosa"],
      ["requested", "second", "rosa"],
      ["rejected", "second", "otto"],
      ["requested", "first", "bot"],
      ["rejected", "first", "rosa"],
      ["requested", "first", "bot"],
      ["approved", "first", "rosa"],
      ["requested", "second", "rosa"],
      ["approved", "second", "otto"],
    ]);
    const { rejections } = (await read(server, id, server.adminKey)).body;
    expect(rejections.map(({ gate, reasons }: Loose) => [gate, ...reasons])).toEqual([
      ["second", "the note is missing"],
      ["first", "the note is short"],
    ]);
  });
});
