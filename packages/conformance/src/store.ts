import { type Backend, type Change, StoreDown } from "@formbridge/core";
import { describe, expect, it } from "vitest";
import { cancelled, creation, HOUR, keyWrite, newIntake, quietUpdate, TENANT, update } from "./fixtures.ts";
import { type OpenBackend, type Subject, useBackend } from "./harness.ts";

const tokenOf = (change: Change): string => change.token?.hash ?? "";
const idOf = (change: Change): string => change.row.submission.submissionId;
const byId = (change: Change) => ({ by: { id: idOf(change), tenant: change.tenant } });

async function commit(backend: Backend, change: Change): Promise<Change> {
  expect(await backend.store.commit(change)).toMatchObject({ kind: "committed" });
  return change;
}

export function describeStore(open: OpenBackend): void {
  describe("store", () => {
    const subject = useBackend(open);
    describe("load", () => loading(subject));
    describe("commit", () => committing(subject));
    describe("commit on a revision", () => revisions(subject));
    describe("commit with a deadline", () => deadlines(subject));
    describe("a refused change leaves no trace", () => traces(subject));
    describe("a closed store", () => closing(subject));
  });
}

function loading(subject: () => Subject): void {
  it("returns only the store's time if nothing was found", async () => {
    const { store, clock } = subject();
    clock.advance(5);
    const nothing = { now: clock.now() };
    expect(await store.load({ by: { token: "f".repeat(64) } })).toEqual(nothing);
    expect(await store.load({ by: { id: "sub_nobody", tenant: TENANT } })).toEqual(nothing);
    expect(await store.load({ by: { intake: "nothing" } })).toEqual(nothing);
  });

  it("returns the snapshot exactly, whatever text it contains", async () => {
    const { store, clock } = subject();
    const fields = { name: "Zoë 🦊 \u0000 \u2028 \ud800", deep: { list: [1, 0.1, null, true, { "a.b": "" }] } };
    const change = creation({ at: clock.now(), fields });
    change.row.sealedFields = "sealed: ünï";
    await store.commit(change);
    const { submission } = await store.load(byId(change));
    expect(submission).toEqual({ ...change.row, sealedToken: change.token?.sealed });
  });

  it("finds a submission by its token, with the token's row", async () => {
    const { store, clock } = subject();
    const change = await commit(subject(), creation({ at: clock.now() }));
    const { submission, presented } = await store.load({ by: { token: tokenOf(change) } });
    expect(submission?.submission).toEqual(change.row.submission);
    expect(presented).toEqual({
      hash: tokenOf(change),
      submissionId: idOf(change),
      tenant: TENANT,
      intakeId: change.row.submission.intakeId,
      version: 1,
      epoch: 0,
      issuedAt: clock.now(),
      expiresAt: change.token?.expiresAt,
    });
  });

  it("does not find another tenant's submission", async () => {
    const { store, clock } = subject();
    const change = await commit(subject(), creation({ at: clock.now() }));
    expect(await store.load({ by: { id: idOf(change), tenant: "other" } })).toEqual({ now: clock.now() });
  });

  it("returns an intake's current digest, and none once it is retired", async () => {
    const { store, intakes, clock } = subject();
    const intake = newIntake("survey");
    await intakes.put(intake, undefined);
    const { digest, tenant } = intake;
    expect(await store.load({ by: { intake: "survey" } })).toEqual({
      now: clock.now(),
      definition: { digest, tenant },
    });
    await intakes.retire({ tenant, id: "survey" });
    expect(await store.load({ by: { intake: "survey" } })).toEqual({ now: clock.now() });
  });

  it("finds a record with the intake, retired or not, and with the submission", async () => {
    const { store, intakes, clock } = subject();
    await intakes.put(newIntake("contact"), undefined);
    const key = keyWrite({ expiresAt: clock.now() + HOUR });
    const change = await commit(subject(), creation({ at: clock.now() }, { key }));
    const expected = { fingerprint: key.fingerprint, submissionId: idOf(change), recordedAt: clock.now() };
    for (const by of [{ intake: "contact" }, { token: tokenOf(change) }, byId(change).by]) {
      expect((await store.load({ by, key: key.ref })).record).toMatchObject(expected);
      expect((await store.load({ by, key: { ...key.ref, operation: "submit" } })).record).toBeUndefined();
    }
    await intakes.retire({ tenant: TENANT, id: "contact" });
    expect((await store.load({ by: { intake: "contact" }, key: key.ref })).record).toMatchObject(expected);
  });
}

function committing(subject: () => Subject): void {
  it("returns the store's time", async () => {
    const { store, clock } = subject();
    clock.advance(7);
    expect(await store.commit(creation({ at: 0 }))).toEqual({ kind: "committed", at: clock.now() });
  });

  it("is visible to a load that begins after it returned", async () => {
    const { store, clock } = subject();
    let last = await commit(subject(), creation({ at: clock.now() }));
    for (let round = 0; round < 5; round += 1) {
      last = await commit(subject(), update(last, clock.now()));
      const { submission } = await store.load(byId(last));
      expect(submission).toEqual({ ...last.row, sealedToken: last.token?.sealed });
    }
  });

  it("keeps the token and its seal when the change has none", async () => {
    const { store, clock } = subject();
    const created = await commit(subject(), creation({ at: clock.now() }));
    await commit(subject(), quietUpdate(created, clock.now()));
    const { submission, presented } = await store.load({ by: { token: tokenOf(created) } });
    expect(submission?.sealedToken).toBe(created.token?.sealed);
    expect(submission?.submission.revision).toBe(2);
    expect(presented).not.toHaveProperty("rotatedAt");
  });

  it("a rotated token is still found, with its own version and when it was rotated", async () => {
    const { store, clock } = subject();
    const first = await commit(subject(), creation({ at: clock.now() }));
    clock.advance(100);
    const second = await commit(subject(), update(first, clock.now()));
    const rotatedAt = clock.now();
    clock.advance(100);
    const third = await commit(subject(), update(second, clock.now()));
    const { submission, presented } = await store.load({ by: { token: tokenOf(first) } });
    expect(presented).toMatchObject({ version: 1, rotatedAt });
    expect(submission).toEqual({ ...third.row, sealedToken: third.token?.sealed });
    expect((await store.load({ by: { token: tokenOf(third) } })).presented).not.toHaveProperty("rotatedAt");
  });

  it("forgets sealed fields that the new row no longer has", async () => {
    const { store, clock } = subject();
    const first = creation({ at: clock.now() });
    first.row.sealedFields = "secret";
    await store.commit(first);
    await commit(subject(), update(first, clock.now()));
    expect((await store.load(byId(first))).submission).not.toHaveProperty("sealedFields");
  });

  it("takes many independent changes at once", async () => {
    const { store, submissions, clock } = subject();
    const changes = Array.from({ length: 600 }, () => creation({ at: clock.now() }));
    const answers = await Promise.all(changes.map((change) => store.commit(change)));
    expect(answers.filter(({ kind }) => kind === "committed")).toHaveLength(600);
    expect(await submissions.list({ tenant: TENANT }, { limit: 1000 })).toHaveLength(600);
  });
}

function revisions(subject: () => Subject): void {
  it("refuses an old revision as stale, with the current state", async () => {
    const { store, clock } = subject();
    const first = await commit(subject(), creation({ at: clock.now() }));
    const second = await commit(subject(), update(first, clock.now()));
    const refused = await store.commit(update(first, clock.now()));
    const submission = { ...second.row, sealedToken: second.token?.sealed };
    expect(refused).toEqual({ kind: "stale", loaded: { now: clock.now(), submission } });
  });

  it("refuses a revision of a submission that does not exist", async () => {
    const { store, clock } = subject();
    const refused = await store.commit(update(creation({ at: clock.now() }), clock.now()));
    expect(refused).toEqual({ kind: "stale", loaded: { now: clock.now() } });
  });

  it("refuses to create an id that exists", async () => {
    const { store, clock } = subject();
    const first = await commit(subject(), creation({ at: clock.now() }));
    const again = creation({ at: clock.now(), submissionId: idOf(first), fields: {} });
    const refused = await store.commit(again);
    expect(refused).toMatchObject({
      kind: "stale",
      loaded: { submission: { submission: { fields: { name: "Ada" } } } },
    });
  });

  it("does not let one tenant write, or learn of, another's submission", async () => {
    const { store, clock } = subject();
    const first = await commit(subject(), creation({ at: clock.now() }));
    const foreign = { ...update(first, clock.now()), tenant: "other" };
    expect(await store.commit(foreign)).toEqual({ kind: "stale", loaded: { now: clock.now() } });
    const squatter = creation({ at: clock.now(), submissionId: idOf(first), tenant: "other" });
    expect(await store.commit(squatter)).toEqual({ kind: "stale", loaded: { now: clock.now() } });
  });

  it("commits exactly one of many concurrent changes on one revision, and shows it to the others", async () => {
    const { store, clock } = subject();
    const first = await commit(subject(), creation({ at: clock.now() }));
    const rivals = Array.from({ length: 20 }, () => update(first, clock.now()));
    const answers = await Promise.all(rivals.map((rival) => store.commit(rival)));
    const winners = rivals.filter((_, index) => answers[index]?.kind === "committed");
    expect(winners).toHaveLength(1);
    for (const answer of answers) {
      if (answer.kind === "committed") continue;
      expect(answer).toMatchObject({ kind: "stale", loaded: { submission: winners[0]?.row } });
    }
  });

  it("distinguishes changes without a token by their revision alone", async () => {
    const { store, events, clock } = subject();
    const first = await commit(subject(), creation({ at: clock.now() }));
    const rivals = Array.from({ length: 20 }, () => quietUpdate(first, clock.now()));
    const answers = await Promise.all(rivals.map((rival) => store.commit(rival)));
    expect(answers.map(({ kind }) => kind).toSorted()).toEqual(["committed", ...Array(19).fill("stale")]);
    expect((await store.commit(quietUpdate(first, clock.now()))).kind).toBe("stale");
    const where = { tenant: TENANT, submissionId: idOf(first), streams: ["submission"] as const };
    expect(await events.read(where, 100)).toHaveLength(2);
  });

  it("creates exactly one of many concurrent creates of one id", async () => {
    const { store, clock } = subject();
    const first = creation({ at: clock.now() });
    const rivals = Array.from({ length: 10 }, () => creation({ at: clock.now(), submissionId: idOf(first) }));
    const answers = await Promise.all([first, ...rivals].map((change) => store.commit(change)));
    expect(answers.filter(({ kind }) => kind === "committed")).toHaveLength(1);
    expect(answers.filter(({ kind }) => kind === "stale")).toHaveLength(10);
  });
}

function deadlines(subject: () => Subject): void {
  it("refuses as too late once the store's clock is past it, and not before", async () => {
    const { store, clock } = subject();
    const first = await commit(subject(), creation({ at: clock.now() }));
    const notAfter = clock.now() + 10;
    clock.advance(10);
    const inTime = await commit(subject(), update(first, clock.now(), { expect: { revision: 1, notAfter } }));
    clock.advance(1);
    const late = update(inTime, clock.now(), { expect: { revision: 2, notAfter } });
    expect(await store.commit(late)).toEqual({ kind: "too_late", now: clock.now() });
  });

  it("reports a change that is both stale and late as stale", async () => {
    const { store, clock } = subject();
    const first = await commit(subject(), creation({ at: clock.now() }));
    const late = update(first, clock.now(), { expect: { revision: 9, notAfter: clock.now() - 1 } });
    expect((await store.commit(late)).kind).toBe("stale");
  });
}

function traces(subject: () => Subject): void {
  async function refuse(kind: "stale" | "too_late" | "key_taken"): Promise<void> {
    const { store, tokens, events, idempotency, jobs, clock } = subject();
    const taken = keyWrite({ expiresAt: clock.now() + HOUR });
    const first = await commit(subject(), creation({ at: clock.now() }, { key: taken }));
    const fresh = keyWrite({ expiresAt: clock.now() + HOUR });
    const change = update(first, clock.now(), {
      expect: { revision: kind === "stale" ? 9 : 1, notAfter: clock.now() - (kind === "too_late" ? 1 : 0) },
      key: kind === "key_taken" ? { ...fresh, ref: taken.ref } : fresh,
      jobs: [{ key: "job", kind: "deliver", runAt: clock.now() }],
      to: cancelled(first.row.submission, clock.now()),
    });
    expect((await store.commit(change)).kind).toBe(kind);
    const { submission } = await store.load(byId(first));
    expect(submission).toEqual({ ...first.row, sealedToken: first.token?.sealed });
    expect(await tokens.find(tokenOf(change))).toBeUndefined();
    expect(await tokens.find(tokenOf(first))).not.toHaveProperty("rotatedAt");
    const all = { streams: ["submission", "token", "idempotency"] as const };
    expect(await events.read({ tenant: TENANT, submissionId: idOf(first), ...all }, 100)).toHaveLength(2);
    expect(await idempotency.find({ ...fresh.ref, tenant: TENANT, intakeId: "contact" })).toBeUndefined();
    expect(await jobs.count()).toBe(0);
  }

  it("when it is stale", () => refuse("stale"));
  it("when it is too late", () => refuse("too_late"));
  it("when its key is taken", () => refuse("key_taken"));

  it("when the store refuses it: a token that is not new", async () => {
    const { store, jobs, clock } = subject();
    const first = await commit(subject(), creation({ at: clock.now() }));
    const job = { key: "job", kind: "deliver" as const, runAt: clock.now() };
    const thief = creation({ at: clock.now() }, { ...(first.token && { token: first.token }), jobs: [job] });
    const refused = store.commit(thief);
    await expect(refused).rejects.toBeInstanceOf(StoreDown);
    await expect(refused).rejects.toMatchObject({ outcome: "not_applied" });
    expect(await store.load(byId(thief))).toEqual({ now: clock.now() });
    expect(await jobs.count()).toBe(0);
    expect((await store.load({ by: { token: tokenOf(first) } })).submission?.submission.submissionId).toBe(idOf(first));
  });
}

function closing(subject: () => Subject): void {
  it("finishes pending writes, and refuses later ones", async () => {
    const { store, close, clock } = subject();
    const queued = store.commit(creation({ at: clock.now() }));
    await close();
    expect(await queued).toMatchObject({ kind: "committed" });
    const late = store.commit(creation({ at: clock.now() }));
    await expect(late).rejects.toBeInstanceOf(StoreDown);
    await expect(late).rejects.toMatchObject({ outcome: "not_applied" });
    await expect(store.load({ by: { intake: "contact" } })).rejects.toBeInstanceOf(StoreDown);
  });
}
