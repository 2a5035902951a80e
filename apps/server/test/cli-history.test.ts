import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCommand, tempFolder } from "../../../test/support/child.ts";
import { type Loose, startTestServer } from "../../../test/support/harness.ts";
import { created, idempotencyKey, setFields, submit } from "../../../test/support/moves.ts";

let data: ReturnType<typeof tempFolder>;
let env: Record<string, string>;
let ids: string[];

beforeEach(() => {
  data = tempFolder();
  env = { FORMBRIDGE_DATA: data.path };
  ids = [];
});
afterEach(() => data.remove());

/** A database with some finished histories in it. */
async function fill(count: number): Promise<void> {
  const server = await startTestServer({ env });
  await server.putIntake({ id: "forms" });
  for (let index = 0; index < count; index++) {
    const made = await created(server, "forms", { body: { idempotencyKey: idempotencyKey(`h-${index}`) } });
    const set = await setFields(server, made.resumeToken, { name: "Ada" });
    await submit(server, set.body.resumeToken, `h-${index}`);
    ids.push(made.submissionId);
  }
  await server.server.stop();
}

function inDatabase<T>(work: (db: Database.Database) => T): T {
  const db = new Database(join(data.path, "formbridge.db"));
  try {
    return work(db);
  } finally {
    db.close();
  }
}

describe("events and verify", () => {
  it("[RUNNING-CLI-EVENTS] prints the whole history, one JSON object a line", async () => {
    await fill(1);
    const { code, stdout } = await runCommand(["events", ids[0] ?? ""], env);
    expect(code).toBe(0);
    const events = stdout
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
    expect(stdout).not.toContain("rtok_");
    const absent = await runCommand(["events", "sub_none"], env);
    expect([absent.code, absent.stdout, absent.stderr]).toEqual([1, "", expect.stringContaining("sub_none")]);
  });

  it("[RUNNING-CLI-VERIFY] says that untouched histories hold", async () => {
    await fill(3);
    expect(await runCommand(["verify", ids[0] ?? ""], env)).toMatchObject({
      code: 0,
      stdout: "1 verified\n",
      stderr: "",
    });
    expect(await runCommand(["verify", "--all"], env)).toMatchObject({ code: 0, stdout: "3 verified\n", stderr: "" });
    expect((await runCommand(["verify", "sub_none"], env)).code).toBe(1);
    expect((await runCommand(["verify"], env)).code).toBe(1);
  });

  const at = "submission_id = @id AND stream = 'submission' AND seq = 2";
  it.each([
    ["another payload", `UPDATE events SET payload = replace(payload, 'Ada', 'Eve') WHERE ${at}`],
    ["another actor", `UPDATE events SET actor = replace(actor, 'bot', 'eve') WHERE ${at}`],
    ["another time", `UPDATE events SET ts = '2020-01-01T00:00:00.000Z' WHERE ${at}`],
    ["another type", `UPDATE events SET type = 'validation.passed' WHERE ${at}`],
    ["another state", `UPDATE events SET state = 'draft' WHERE ${at}`],
    ["another version", `UPDATE events SET version = 7 WHERE ${at}`],
    ["another hash", `UPDATE events SET hash = replace(hash, substr(hash, 1, 4), 'beef') WHERE ${at}`],
  ])("[RUNNING-CLI-VERIFY] names the event with %s", async (_what, sql) => {
    await fill(2);
    const [id = "", other = ""] = ids;
    const eventId = inDatabase((db) => {
      expect(db.prepare(sql).run({ id }).changes).toBe(1);
      return db.prepare(`SELECT event_id FROM events WHERE ${at}`).pluck().get({ id });
    });
    const one = await runCommand(["verify", id], env);
    expect(one.code).toBe(1);
    expect(one.stderr).toContain(id);
    expect(one.stderr).toContain(String(eventId));
    const all = await runCommand(["verify", "--all"], env);
    expect([all.code, all.stdout]).toEqual([1, "1 verified\n"]);
    expect(all.stderr).not.toContain(other);
  });

  it.each([
    ["a submission event in the middle", "stream = 'submission' AND seq = 2"],
    ["the last submission event", "stream = 'submission' AND seq = 4"],
    ["all submission events", "stream = 'submission'"],
    ["a token event in the middle", "stream = 'token' AND seq = 2"],
    [
      "the last token event",
      "stream = 'token' AND seq = (SELECT max(seq) FROM events WHERE submission_id = @id AND stream = 'token')",
    ],
    [
      "the last idempotency event",
      "stream = 'idempotency' AND seq = (SELECT max(seq) FROM events WHERE submission_id = @id AND stream = 'idempotency')",
    ],
  ])("[RUNNING-CLI-VERIFY] notices that %s is gone", async (_what, where) => {
    await fill(1);
    const [id = ""] = ids;
    inDatabase((db) => db.prepare(`DELETE FROM events WHERE submission_id = @id AND ${where}`).run({ id }));
    const { code, stderr } = await runCommand(["verify", id], env);
    expect([code, stderr]).toEqual([1, expect.stringContaining(id)]);
  });
});

describe("migrate and doctor", () => {
  it("[RUNNING-CLI-MIGRATE] makes a new database ready, and repeats without harm", async () => {
    for (let round = 0; round < 2; round++) {
      const { code, stdout } = await runCommand(["migrate"], env);
      expect([code, stdout]).toEqual([0, expect.stringContaining("up to date")]);
    }
    await fill(1);
    expect((await runCommand(["migrate"], env)).code).toBe(0);
    expect((await runCommand(["verify", "--all"], env)).stdout).toBe("1 verified\n");
  });

  it("[RUNNING-CLI-DOCTOR] is content with a good place", async () => {
    await fill(1);
    const { code, stdout } = await runCommand(["doctor"], env);
    expect(code).toBe(0);
    expect(stdout).not.toContain("BAD");
    for (const word of ["node", "secret", "intakes", "store"]) expect(stdout).toContain(word);
  });

  it("[RUNNING-CLI-DOCTOR] says what is wrong, and fails", async () => {
    await runCommand(["migrate"], env);
    const secret = join(data.path, "secret");
    writeFileSync(secret, "x".repeat(43));
    chmodSync(secret, 0o644);
    const open = await runCommand(["doctor"], env);
    expect([open.code, open.stdout]).toEqual([1, expect.stringMatching(/BAD.*secret/)]);
    const intakes = join(data.path, "intakes");
    mkdirSync(intakes);
    writeFileSync(join(intakes, "broken.json"), "{");
    const broken = await runCommand(["doctor"], { ...env, FORMBRIDGE_INTAKES: intakes });
    expect([broken.code, broken.stdout]).toEqual([1, expect.stringMatching(/BAD.*broken\.json/)]);
    const absent = await runCommand(["doctor"], { ...env, FORMBRIDGE_INTAKES: join(data.path, "nowhere") });
    expect([absent.code, absent.stdout]).toEqual([1, expect.stringMatching(/BAD.*nowhere/)]);
  });
});
