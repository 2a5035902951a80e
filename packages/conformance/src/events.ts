import type { EventStream } from "@formbridge/contract";
import { type ChainedEvent, type Change, firstBrokenLink } from "@formbridge/core";
import { describe, expect, it } from "vitest";
import { alsoTelling, creation, INTAKE, quietUpdate, TENANT, update } from "./fixtures.ts";
import { type OpenBackend, type Subject, useBackend } from "./harness.ts";

const ALL: readonly EventStream[] = ["submission", "token", "idempotency"];
const idsOf = (events: ChainedEvent[] | undefined) => events?.map(({ eventId }) => eventId);

/** A submission with events in all three streams, one second apart. */
async function history({ store, clock }: Subject, writes: number, first: Change): Promise<Change> {
  await store.commit(first);
  let last = first;
  for (let write = 0; write < writes; write += 1) {
    clock.advance(1_000);
    last = alsoTelling(update(last, clock.now()), ["idempotency.replay", "idempotency"]);
    await store.commit(last);
  }
  return last;
}

export function describeEvents(open: OpenBackend): void {
  describe("events", () => {
    const subject = useBackend(open);
    describe("chains", () => chains(subject));
    describe("of one submission", () => reading(subject));
    describe("feed", () => feeding(subject));
  });
}

function chains(subject: () => Subject): void {
  it("have no gap and link each event to the one before, stream by stream", async () => {
    const { store, events, clock } = subject();
    const last = await history(subject(), 10, creation({ at: clock.now() }));
    const { submissionId } = last.row.submission;
    const all = (await events.read({ tenant: TENANT, submissionId, streams: ALL }, 100)) ?? [];
    expect(all).toHaveLength(11 + 11 + 10);
    expect(firstBrokenLink(all)).toBeUndefined();
    const endOf = (stream: EventStream) => all.findLast((event) => event.stream === stream);
    const loaded = await store.load({ by: { id: submissionId, tenant: TENANT } });
    expect(loaded.submission?.submission.heads).toEqual({
      submission: { seq: 11, hash: endOf("submission")?.hash },
      token: { seq: 11, hash: endOf("token")?.hash },
      idempotency: { seq: 10, hash: endOf("idempotency")?.hash },
    });
  });

  it("continue over changes without audit events, and within one that has several", async () => {
    const { store, events, clock } = subject();
    const first = creation({ at: clock.now() });
    await store.commit(first);
    const quiet = quietUpdate(first, clock.now());
    await store.commit(quiet);
    const busy = alsoTelling(
      update(quiet, clock.now()),
      ["idempotency.key.created", "idempotency"],
      ["token.handed_off", "token"],
    );
    await store.commit(busy);
    const { submissionId } = busy.row.submission;
    const all = (await events.read({ tenant: TENANT, submissionId, streams: ALL }, 100)) ?? [];
    expect(firstBrokenLink(all)).toBeUndefined();
    expect(all.filter(({ stream }) => stream === "token").map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(all.filter(({ stream }) => stream === "idempotency").map(({ seq }) => seq)).toEqual([1]);
  });

  it("are valid when many writes race for the same submission", async () => {
    const { store, events, clock } = subject();
    let last = creation({ at: clock.now() });
    await store.commit(last);
    for (let round = 0; round < 5; round += 1) {
      const rivals = Array.from({ length: 4 }, () => update(last, clock.now()));
      const answers = await Promise.all(rivals.map((rival) => store.commit(rival)));
      last = rivals[answers.findIndex(({ kind }) => kind === "committed")] ?? last;
    }
    const { submissionId } = last.row.submission;
    const all = (await events.read({ tenant: TENANT, submissionId, streams: ALL }, 100)) ?? [];
    expect(all).toHaveLength(12);
    expect(firstBrokenLink(all)).toBeUndefined();
  });
}

function reading(subject: () => Subject): void {
  it("returns an event exactly, erased parts as null", async () => {
    const { store, events, clock } = subject();
    const change = creation({ at: clock.now() });
    const [event] = change.events;
    if (!event) throw new Error("a creation has an event");
    Object.assign(event, { actor: null, actorSalt: null, payload: { text: "é🦊" } });
    await store.commit(change);
    const { submissionId } = change.row.submission;
    expect(await events.read({ tenant: TENANT, submissionId, streams: ["submission"] }, 10)).toEqual([event]);
  });

  it("pages in order of writing, over one stream or all", async () => {
    const { events, clock } = subject();
    const last = await history(subject(), 4, creation({ at: clock.now() }));
    const where = { tenant: TENANT, submissionId: last.row.submission.submissionId };
    for (const streams of [ALL, ["submission"], ["token", "idempotency"]] as const) {
      const whole = (await events.read({ ...where, streams }, 100)) ?? [];
      const paged: ChainedEvent[] = [];
      for (;;) {
        const afterEventId = paged.at(-1)?.eventId;
        const page = await events.read({ ...where, streams, ...(afterEventId && { afterEventId }) }, 2);
        if (!page?.length) break;
        paged.push(...page);
      }
      expect(paged).toEqual(whole);
      expect(new Set(paged.map(({ stream }) => stream))).toEqual(new Set(streams));
    }
  });

  it("filters by type", async () => {
    const { events, clock } = subject();
    const { row } = await history(subject(), 3, creation({ at: clock.now() }));
    const where = { tenant: TENANT, submissionId: row.submission.submissionId, streams: ALL };
    const found = await events.read({ ...where, types: ["token.created", "idempotency.replay"] }, 100);
    expect(found?.map(({ type }) => type)).toEqual(["token.created", ...Array(3).fill("idempotency.replay")]);
    expect(await events.read({ ...where, types: [] }, 100)).toEqual([]);
  });

  it("starts after an event of a stream that is not selected", async () => {
    const { events, clock } = subject();
    const { row } = await history(subject(), 2, creation({ at: clock.now() }));
    const where = { tenant: TENANT, submissionId: row.submission.submissionId };
    const [token] = (await events.read({ ...where, streams: ["token"] }, 1)) ?? [];
    const after = { ...where, afterEventId: token?.eventId ?? "" };
    expect(await events.read({ ...after, streams: ["submission"] }, 10)).toHaveLength(2);
  });

  it("distinguishes an unknown event from the end", async () => {
    const { events, clock } = subject();
    const mine = await history(subject(), 1, creation({ at: clock.now() }));
    const other = await history(subject(), 0, creation({ at: clock.now() }));
    const where = { tenant: TENANT, submissionId: mine.row.submission.submissionId, streams: ALL };
    const whole = (await events.read(where, 100)) ?? [];
    expect(await events.read({ ...where, afterEventId: whole.at(-1)?.eventId ?? "" }, 10)).toEqual([]);
    expect(await events.read({ ...where, afterEventId: "evt_unknown" }, 10)).toBeUndefined();
    expect(await events.read({ ...where, afterEventId: other.events[0]?.eventId ?? "" }, 10)).toBeUndefined();
  });

  it("does not mistake an id in a payload for that event", async () => {
    const { store, events, clock } = subject();
    const first = await history(subject(), 1, creation({ at: clock.now() }));
    const where = { tenant: TENANT, submissionId: first.row.submission.submissionId, streams: ALL };
    const [earliest, ...rest] = idsOf(await events.read(where, 100)) ?? [];
    const naming = update(first, clock.now());
    Object.assign(naming.events[0] ?? {}, { payload: { note: earliest } });
    await store.commit(naming);
    const after = idsOf(await events.read({ ...where, afterEventId: earliest ?? "" }, 100));
    expect(after?.slice(0, rest.length)).toEqual(rest);
    expect(after?.at(rest.length)).toBe(naming.events[0]?.eventId);
  });

  it("has nothing for another tenant or an unknown submission", async () => {
    const { events, clock } = subject();
    const { row } = await history(subject(), 1, creation({ at: clock.now() }));
    const { submissionId } = row.submission;
    expect(await events.read({ tenant: "other", submissionId, streams: ALL }, 10)).toEqual([]);
    expect(await events.read({ tenant: TENANT, submissionId: "sub_nobody", streams: ALL }, 10)).toEqual([]);
  });
}

function feeding(subject: () => Subject): void {
  it("shows all submissions' events in order of commit, at growing positions, page by page", async () => {
    const { events, clock } = subject();
    await history(subject(), 2, creation({ at: clock.now() }));
    await history(subject(), 2, creation({ at: clock.now() }));
    const where = { tenant: TENANT, streams: ALL };
    const whole = (await events.feed(where, { after: 0, limit: 100 })).events;
    expect(whole).toHaveLength(16);
    expect(new Set(whole.map(({ intakeId }) => intakeId))).toEqual(new Set([INTAKE]));
    for (const [index, { position }] of whole.entries())
      expect(position).toBeGreaterThan(whole[index - 1]?.position ?? 0);
    const times = whole.map(({ event }) => event.ts);
    expect(times).toEqual([...times].sort());
    const paged = [];
    // A store that repeats events would never come to an end.
    for (let after = 0; paged.length <= whole.length; ) {
      const page = (await events.feed(where, { after, limit: 3 })).events;
      paged.push(...page);
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.position;
    }
    expect(paged).toEqual(whole);
  });

  it("loses nothing and repeats nothing when a page ends inside one commit", async () => {
    const { events, clock } = subject();
    await history(subject(), 3, creation({ at: clock.now() }));
    const filters = [{}, { types: ["token.updated" as const] }, { types: ["field.updated" as const] }];
    for (const filter of filters) {
      const where = { tenant: TENANT, streams: ALL, ...filter };
      const whole = (await events.feed(where, { after: 0, limit: 100 })).events;
      expect(whole.length).toBeGreaterThan(2);
      for (const { position } of whole) {
        const rest = (await events.feed(where, { after: position, limit: 100 })).events;
        expect(rest).toEqual(whole.filter((event) => event.position > position));
      }
    }
  });

  it("continues after an empty page, and misses nothing that comes later", async () => {
    const { events, clock } = subject();
    await history(subject(), 3, creation({ at: clock.now() }));
    const where = { tenant: TENANT, streams: ALL, types: ["submission.cancelled" as const] };
    const nothing = await events.feed(where, { after: 0, limit: 10 });
    expect(nothing.events).toEqual([]);
    expect(nothing.position).toBeGreaterThan(0);
    const later = alsoTelling(creation({ at: clock.now() }), ["idempotency.replay", "idempotency"]);
    await subject().store.commit(later);
    const fresh = await events.feed({ tenant: TENANT, streams: ALL }, { after: nothing.position, limit: 10 });
    expect(fresh.events.map(({ event }) => event.submissionId)).toEqual(
      Array(3).fill(later.row.submission.submissionId),
    );
  });

  it("continues after a position with what was committed since", async () => {
    const { events, clock } = subject();
    const where = { tenant: TENANT, streams: ["submission"] as const };
    await history(subject(), 1, creation({ at: clock.now() }));
    const after = (await events.feed(where, { after: 0, limit: 100 })).events.at(-1)?.position ?? 0;
    expect((await events.feed(where, { after, limit: 10 })).events).toEqual([]);
    const later = await history(subject(), 0, creation({ at: clock.now() }));
    const fresh = (await events.feed(where, { after, limit: 10 })).events;
    expect(idsOf(fresh.map(({ event }) => event))).toEqual([later.events[0]?.eventId]);
  });

  it("filters by tenant, intake, stream, type and time", async () => {
    const { events, clock } = subject();
    const start = clock.now();
    await history(subject(), 2, creation({ at: start }));
    await history(subject(), 0, creation({ at: clock.now(), intakeId: "other" }));
    await history(subject(), 0, creation({ at: clock.now(), tenant: "other" }));
    const count = async (where: Partial<Parameters<typeof events.feed>[0]>) =>
      (await events.feed({ tenant: TENANT, streams: ALL, ...where }, { after: 0, limit: 100 })).events.length;
    expect(await count({})).toBe(10);
    expect(await count({ tenant: "other" })).toBe(2);
    expect(await count({ intakeIds: ["other"] })).toBe(2);
    expect(await count({ intakeIds: [] })).toBe(0);
    expect(await count({ streams: ["submission"] })).toBe(4);
    expect(await count({ types: ["field.updated"] })).toBe(2);
    expect(await count({ from: start + 1_000 })).toBe(8);
    expect(await count({ until: start + 1_000 })).toBe(2);
    expect(await count({ from: start + 1_000, until: start + 2_000 })).toBe(3);
  });
}
