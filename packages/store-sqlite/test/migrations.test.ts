import { fixtures } from "@formbridge/conformance";
import { migrate, openDatabase, openSqliteBackend, pendingMigrations } from "@formbridge/store-sqlite";
import { describe, expect, it } from "vitest";
import { tempFile } from "./temp-file.ts";

describe("migrations", () => {
  it("bring a new file up to date, once", () => {
    const db = openDatabase(tempFile());
    const pending = pendingMigrations(db);
    const ids = pending.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => one - other));
    expect(migrate(db)).toEqual(pending);
    expect(pendingMigrations(db)).toEqual([]);
    expect(migrate(db)).toEqual([]);
    db.close();
  });

  it("a file of the first schema goes on with what it has, and takes hand-offs", async () => {
    const file = tempFile();
    const old = openDatabase(file);
    migrate(old, pendingMigrations(old).slice(0, 1));
    old.prepare("INSERT INTO api_keys (key_id, hash, tenant, doc) VALUES ('key_1', 'h', 'acme', '{}')").run();
    old.close();
    const backend = openSqliteBackend({ file, now: () => 0 });
    expect(await backend.keys.find("h")).toEqual({});
    const created = fixtures.creation({ at: 0 });
    const handoff = fixtures.newHandoff(created, { at: 0, opened: 1 });
    await backend.store.commit({ ...created, side: [{ kind: "handoff", handoff }] });
    expect((await backend.store.load({ by: { session: handoff.link ?? "" } })).handoff).toEqual(handoff);
    await backend.close();
  });

  it("a log with a row an event becomes one with a row a commit, and everything in it stays where it was", async () => {
    const file = tempFile();
    const old = openDatabase(file);
    migrate(
      old,
      pendingMigrations(old).filter(({ id }) => id < 7),
    );
    const created = fixtures.creation({ at: 0 });
    const [event] = created.events;
    if (event === undefined) throw new Error("a creation has an event");
    const erased = {
      ...event,
      eventId: "evt_2",
      seq: 2,
      actor: null,
      actorSalt: null,
      payload: null,
      payloadSalt: null,
    };
    const insert = old.prepare(
      `INSERT INTO events (position, sid, tenant, stream, seq, event_id, type, ts, state, version, actor, payload, actor_salt,
         actor_digest, payload_salt, payload_digest, prev_hash, hash)
       VALUES (?, 1, 'acme', @stream, @seq, @eventId, @type, @ts, @state, @version, @actor, @payload, @actorSalt,
         unhex(@actorDigest), @payloadSalt, unhex(@payloadDigest), unhex(@prevHash), unhex(@hash))`,
    );
    const { submission } = created.row;
    old
      .prepare(
        `INSERT INTO submissions (submission_id, tenant, intake_id, created_by_id, created_at, state, editable, expires_at, version,
           revision, token_seq, idem_seq, sealed_token, doc)
         VALUES (?, 'acme', ?, 'bot', 0, 'in_progress', 1, 0, 1, 1, 0, 0, '', ?)`,
      )
      .run(submission.submissionId, submission.intakeId, JSON.stringify(submission));
    const textOf = (value: unknown) => (value === null ? null : JSON.stringify(value));
    for (const [index, one] of [event, erased].entries())
      insert.run(7 + index, { ...one, actor: textOf(one.actor), payload: textOf(one.payload) });
    // Of a log whose last event was removed, only the number is left.
    insert.run(20, { ...erased, actor: null, payload: null });
    old.prepare("DELETE FROM events WHERE position = 20").run();
    old.close();

    const backend = openSqliteBackend({ file, now: () => 0 });
    const where = { tenant: "acme", streams: ["submission", "token", "idempotency"] as const };
    expect(await backend.events.read({ ...where, submissionId: submission.submissionId }, 10)).toEqual([event, erased]);
    const { events } = await backend.events.feed(where, { after: 0, limit: 10 });
    expect(events.map(({ position }) => position)).toEqual([7, 8]);
    await backend.store.commit(fixtures.creation({ at: 0 }));
    const later = await backend.events.feed(where, { after: 8, limit: 10 });
    expect(later.events.map(({ position }) => position)).toEqual([21, 22]);
    await backend.close();
  });

  it("looking at what is pending changes nothing", () => {
    const db = openDatabase(tempFile());
    pendingMigrations(db);
    expect(db.prepare("SELECT count(*) FROM sqlite_master").pluck().get()).toBe(0);
    db.close();
  });

  it("a step that fails leaves the schema as it was", () => {
    const db = openDatabase(tempFile());
    const good = { id: 1, name: "good", sql: "CREATE TABLE a (b)" };
    const bad = { id: 2, name: "bad", sql: "CREATE TABLE a (b)" };
    expect(() => migrate(db, [good, bad])).toThrow("already exists");
    expect(db.prepare("SELECT count(*) FROM sqlite_master").pluck().get()).toBe(0);
    expect(migrate(db, [good])).toEqual([good]);
    db.close();
  });

  it("refuse a database that newer code has written, in words", () => {
    const file = tempFile();
    const db = openDatabase(file);
    migrate(db);
    db.prepare("INSERT INTO schema_migrations VALUES (99, 'from the future', 'then')").run();
    db.close();
    expect(() => openSqliteBackend({ file, now: Date.now })).toThrow(
      /has schema 99, but this FormBridge knows schemas up to/,
    );
  });

  it("refuse a database whose schema has another name than ours, in words", () => {
    const file = tempFile();
    const db = openDatabase(file);
    migrate(db);
    db.prepare("UPDATE schema_migrations SET name = 'draft' WHERE id = 1").run();
    db.close();
    expect(() => openSqliteBackend({ file, now: Date.now })).toThrow(/its schema 1 is "draft"/);
  });

  it("the file has the settings that durability rests on", () => {
    const db = openDatabase(tempFile());
    expect(db.pragma("journal_mode", { simple: true })).toBe("wal");
    expect(db.pragma("synchronous", { simple: true })).toBe(2);
    expect(db.pragma("foreign_keys", { simple: true })).toBe(1);
    db.close();
  });
});
