import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Finished, runCommand, tempFolder } from "../../../test/support/child.ts";
import { type Loose, startTestServer } from "../../../test/support/harness.ts";
import { created, idempotencyKey, setFields, submit } from "../../../test/support/moves.ts";
import { type StoredEvent, storedEvents, tamper } from "../../../test/support/tamper.ts";

// Each command is a process that loads everything: a second on a quiet machine, several on a busy one.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const isTampered = ({ stream, seq }: StoredEvent): boolean => stream === "submission" && seq === 2;
const replaced = (value: unknown, one: string, other: string): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(one, other));

const CHANGED: Record<string, (event: StoredEvent) => Partial<StoredEvent>> = {
  "another payload": ({ payload }) => ({ payload: replaced(payload, "Ada", "Eve") }),
  "another actor": ({ actor }) => ({ actor: replaced(actor, "bot", "eve") }),
  "another payload without its salt": ({ payload }) => ({
    payload: replaced(payload, "Ada", "Eve"),
    payloadSalt: null,
  }),
  "another actor without its salt": ({ actor }) => ({ actor: replaced(actor, "bot", "eve"), actorSalt: null }),
  "another time": () => ({ ts: "2020-01-01T00:00:00.000Z" }),
  "another type": () => ({ type: "validation.passed" }),
  "another state": () => ({ state: "draft" }),
  "another version": () => ({ version: 7 }),
  "another hash": ({ hash }) => ({ hash: `beef${String(hash).slice(4)}` }),
};
/** Which event to remove, by its position in its stream; the last one is -1. */
const REMOVED: Record<string, { stream: string; at?: number }> = {
  "a submission event in the middle": { stream: "submission", at: 1 },
  "the last submission event": { stream: "submission", at: -1 },
  "every submission event": { stream: "submission" },
  "a token event in the middle": { stream: "token", at: 1 },
  "the last token event": { stream: "token", at: -1 },
  "the last idempotency event": { stream: "idempotency", at: -1 },
};
const cases = [...Object.keys(CHANGED), ...Object.keys(REMOVED), "untouched"];

const data = tempFolder();
const env = { FORMBRIDGE_DATA: data.path };
/** The submission of each case. */
const ids = new Map<string, string>();
let before: Finished;
let all: Finished;

/** Creates a history for every case, tampers with each in its own way, and verifies all at once. */
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
  for (const [name, change] of Object.entries(CHANGED)) {
    const alter = (event: StoredEvent) => (isTampered(event) ? { ...event, ...change(event) } : event);
    expect(tamper(db, ids.get(name) ?? "", alter)).toBe(1);
  }
  for (const [name, { stream, at }] of Object.entries(REMOVED)) {
    const id = ids.get(name) ?? "";
    const own = storedEvents(db, id).filter((event) => event.stream === stream);
    const gone = (at === undefined ? own : [own.at(at)]).map((event) => event?.eventId);
    expect(tamper(db, id, (event) => (gone.includes(event.eventId) ? undefined : event))).toBe(gone.length);
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

  it("[RUNNING-CLI-VERIFY] reports that untouched histories are valid", async () => {
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

  it("[AUDIT-F31] --all verifies every tenant, or the one that is named", async () => {
    const own = tempFolder();
    const tenants = { FORMBRIDGE_DATA: own.path };
    const server = await startTestServer({ env: tenants });
    await server.putIntake({ id: "forms" });
    const acme = await server.makeKey({ roles: ["admin"], actor: { kind: "human", id: "boss" }, tenant: "acme" });
    await server.putIntake({ id: "acme-forms" }, acme);
    for (const intake of ["forms", "acme-forms", "acme-forms"]) await created(server, intake);
    await server.server.stop();
    const [every, one] = await Promise.all([
      runCommand(["verify", "--all"], tenants),
      runCommand(["verify", "--all", "--tenant", "acme"], tenants),
    ]);
    expect([every, one]).toMatchObject([
      { code: 0, stdout: "3 verified\n" },
      { code: 0, stdout: "2 verified\n" },
    ]);
    own.remove();
  });

  it.each(Object.keys(CHANGED))("[RUNNING-CLI-VERIFY] names the event with %s", (name) => {
    const id = ids.get(name) ?? "";
    const db = new Database(join(data.path, "formbridge.db"), { readonly: true });
    const eventId = storedEvents(db, id).find(isTampered)?.eventId;
    db.close();
    const line = all.stderr.split("\n").find((text) => text.includes(id));
    expect(line).toContain(String(eventId));
  });

  it.each(Object.keys(REMOVED))("[RUNNING-CLI-VERIFY] notices that %s is missing", (name) => {
    expect(all.stderr).toContain(ids.get(name));
  });
});

describe("migrate and doctor", () => {
  it("[RUNNING-CLI-MIGRATE] prepares a new database, and is safe to repeat", async () => {
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

  it("[RUNNING-CLI-DOCTOR] accepts a working setup", async () => {
    const { code, stdout } = await runCommand(["doctor"], env);
    expect(code).toBe(0);
    expect(stdout).not.toContain("BAD");
    for (const word of ["node", "secret", "intakes", "store"]) expect(stdout).toContain(word);
  });

  it("[RUNNING-CLI-DOCTOR] reports what is wrong, and fails", async () => {
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
