import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Finished, runCommand, tempFolder } from "../../../test/support/child.ts";
import { type Loose, startTestServer } from "../../../test/support/harness.ts";
import { created, idempotencyKey, setFields, submit } from "../../../test/support/moves.ts";

// Each command is a process that loads everything: a second on a quiet machine, several on a busy one.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const OF_ID = "sid = (SELECT sid FROM submissions WHERE submission_id = @id)";
const LAST = `(SELECT max(seq) FROM events WHERE ${OF_ID} AND stream =`;
const AT = `${OF_ID} AND stream = 'submission' AND seq = 2`;
const CHANGED: Record<string, string> = {
  "another payload": `UPDATE events SET payload = replace(payload, 'Ada', 'Eve') WHERE ${AT}`,
  "another actor": `UPDATE events SET actor = replace(actor, 'bot', 'eve') WHERE ${AT}`,
  "another payload without its salt": `UPDATE events SET payload = replace(payload, 'Ada', 'Eve'), payload_salt = NULL WHERE ${AT}`,
  "another actor without its salt": `UPDATE events SET actor = replace(actor, 'bot', 'eve'), actor_salt = NULL WHERE ${AT}`,
  "another time": `UPDATE events SET ts = '2020-01-01T00:00:00.000Z' WHERE ${AT}`,
  "another type": `UPDATE events SET type = 'validation.passed' WHERE ${AT}`,
  "another state": `UPDATE events SET state = 'draft' WHERE ${AT}`,
  "another version": `UPDATE events SET version = 7 WHERE ${AT}`,
  "another hash": `UPDATE events SET hash = unhex('beef' || substr(hex(hash), 5)) WHERE ${AT}`,
};
const REMOVED: Record<string, string> = {
  "a submission event in the middle": "stream = 'submission' AND seq = 2",
  "the last submission event": "stream = 'submission' AND seq = 4",
  "every submission event": "stream = 'submission'",
  "a token event in the middle": "stream = 'token' AND seq = 2",
  "the last token event": `stream = 'token' AND seq = ${LAST} 'token')`,
  "the last idempotency event": `stream = 'idempotency' AND seq = ${LAST} 'idempotency')`,
};
const cases = [...Object.keys(CHANGED), ...Object.keys(REMOVED), "untouched"];

const data = tempFolder();
const env = { FORMBRIDGE_DATA: data.path };
/** By case, the submission that it was done to. */
const ids = new Map<string, string>();
let before: Finished;
let all: Finished;

/** A history for every case; then each is tampered with in its own way, and all are verified at once. */
beforeAll(async () => {
  const server = await startTestServer({ env });
  await server.putIntake({ id: "forms" });
  for (const [index, name] of cases.entries()) {
    const made = await created(server, "forms", { body: { idempotencyKey: idempotencyKey(`h-${index}`) } });
    const set = await setFields(server, made.resumeToken, { name: "Ada" });
    await submit(server, set.body.resumeToken, `h-${index}`);
    ids.set(name, made.submissionId);
  }
  await server.server.stop();
  before = await runCommand(["verify", "--all"], env);
  const db = new Database(join(data.path, "formbridge.db"));
  for (const [name, sql] of Object.entries(CHANGED)) expect(db.prepare(sql).run({ id: ids.get(name) }).changes).toBe(1);
  for (const [name, where] of Object.entries(REMOVED)) {
    const removed = db.prepare(`DELETE FROM events WHERE ${OF_ID} AND ${where}`).run({ id: ids.get(name) });
    expect(removed.changes).toBeGreaterThan(0);
  }
  db.close();
  all = await runCommand(["verify", "--all"], env);
});
afterAll(() => data.remove());

describe("events and verify", () => {
  it("[RUNNING-CLI-EVENTS] prints the whole history, one JSON object a line", async () => {
    const [printed, absent] = await Promise.all([
      runCommand(["events", ids.get("untouched") ?? ""], env),
      runCommand(["events", "sub_none"], env),
    ]);
    expect(printed.code).toBe(0);
    const events = printed.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Loose);
    expect(new Set(events.map(({ stream }) => stream))).toEqual(new Set(["submission", "token", "idempotency"]));
    const own = events.filter(({ stream }) => stream === "submission");
    expect(own.map(({ type }) => type)).toEqual([
      "submission.created",
      "field.updated",
      "submission.submitted",
      "submission.finalized",
    ]);
    expect(printed.stdout).not.toContain("rtok_");
    expect([absent.code, absent.stdout, absent.stderr]).toEqual([1, "", expect.stringContaining("sub_none")]);
  });

  it("[RUNNING-CLI-VERIFY] says that untouched histories hold", async () => {
    expect(before).toMatchObject({ code: 0, stdout: `${cases.length} verified\n`, stderr: "" });
    expect(all.code).toBe(1);
    expect(all.stderr).not.toContain(ids.get("untouched"));
    const [one, absent, none] = await Promise.all([
      runCommand(["verify", ids.get("untouched") ?? ""], env),
      runCommand(["verify", "sub_none"], env),
      runCommand(["verify"], env),
    ]);
    expect(one).toMatchObject({ code: 0, stdout: "1 verified\n", stderr: "" });
    expect([absent.code, none.code]).toEqual([1, 1]);
  });

  it.each(Object.keys(CHANGED))("[RUNNING-CLI-VERIFY] names the event with %s", (name) => {
    const id = ids.get(name) ?? "";
    const db = new Database(join(data.path, "formbridge.db"), { readonly: true });
    const eventId = db.prepare(`SELECT event_id FROM events WHERE ${AT}`).pluck().get({ id });
    db.close();
    const line = all.stderr.split("\n").find((text) => text.includes(id));
    expect(line).toContain(String(eventId));
  });

  it.each(Object.keys(REMOVED))("[RUNNING-CLI-VERIFY] notices that %s is gone", (name) => {
    expect(all.stderr).toContain(ids.get(name));
  });
});

describe("migrate and doctor", () => {
  it("[RUNNING-CLI-MIGRATE] makes a new database ready, and repeats without harm", async () => {
    const fresh = tempFolder();
    for (const place of [fresh.path, fresh.path, data.path]) {
      const { code, stdout } = await runCommand(["migrate"], { FORMBRIDGE_DATA: place });
      expect([code, stdout]).toEqual([0, expect.stringContaining("up to date")]);
    }
    const db = new Database(join(data.path, "formbridge.db"), { readonly: true });
    expect(db.prepare("SELECT count(*) FROM submissions").pluck().get()).toBe(cases.length);
    db.close();
    fresh.remove();
  });

  it("[RUNNING-CLI-DOCTOR] is content with a good place", async () => {
    const { code, stdout } = await runCommand(["doctor"], env);
    expect(code).toBe(0);
    expect(stdout).not.toContain("BAD");
    for (const word of ["node", "secret", "intakes", "store"]) expect(stdout).toContain(word);
  });

  it("[RUNNING-CLI-DOCTOR] says what is wrong, and fails", async () => {
    const bad = tempFolder();
    const intakes = join(bad.path, "intakes");
    mkdirSync(intakes);
    writeFileSync(join(intakes, "broken.json"), "{");
    writeFileSync(join(bad.path, "secret"), "x".repeat(43));
    chmodSync(join(bad.path, "secret"), 0o644);
    const [broken, absent] = await Promise.all(
      [intakes, join(bad.path, "nowhere")].map((folder) =>
        runCommand(["doctor"], { FORMBRIDGE_DATA: bad.path, FORMBRIDGE_INTAKES: folder }),
      ),
    );
    expect([broken?.code, absent?.code]).toEqual([1, 1]);
    expect(broken?.stdout).toMatch(/BAD.*secret/);
    expect(broken?.stdout).toMatch(/BAD.*broken\.json/);
    expect(absent?.stdout).toMatch(/BAD.*nowhere/);
    bad.remove();
  });
});
