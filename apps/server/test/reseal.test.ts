import { createAesSealer, SEALED_KINDS } from "@formbridge/core";
import { afterEach, describe, expect, test, vi } from "vitest";
import { runCommand, tempFolder } from "../../../test/support/child.ts";
import { createMailbox, handOff } from "../../../test/support/handoffs.ts";
import { caller, startTestServer } from "../../../test/support/harness.ts";
import { created } from "../../../test/support/moves.ts";
import { readConfig, serve } from "../src/index.ts";
import { lostValues, resealStore } from "../src/reseal-store.ts";
import { fill } from "./copied-things.ts";

// Commands are processes that load everything.
vi.setConfig({ testTimeout: 120_000 });

const OLD = "the old secret of these tests";
const NEW = "the new secret of these tests";
const ADMIN = `fbk_${"c".repeat(43)}`;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

describe.each(["sqlite", "postgres"] as const)("on %s", (store) => {
  test("[RUNNING-CLI-RESEAL] everything sealed with the old secret is sealed with the new one, and opens unchanged", async () => {
    const post = createMailbox();
    const server = await startTestServer({ store, mailer: post, env: { FORMBRIDGE_SECRET: OLD } });
    closers.push(() => server.stop());
    const held = await fill(server, post);
    const destination = { kind: "webhook" as const, url: "https://example.com/hook", secret: "a secret of a receiver" };
    await server.putIntake({ id: "signed", destination });
    const handed = await created(server, "forms", { body: { initialFields: { name: "Ada", iban: "DE00 9999" } } });
    await handOff(server, handed.resumeToken, { message: "please sign" });
    const [delivered] = (await server.call("GET", "/submissions?intakeId=delivered", { key: server.adminKey })).body
      .items;
    const moved = await server.call("PATCH", `/submissions/${delivered.submissionId}/destination`, {
      key: server.adminKey,
      body: { destination: { kind: "webhook", url: "https://example.com/other", secret: "a secret of a receiver" } },
    });
    expect(moved.status).toBe(200);

    const { sealedRows } = server.server.core.backend;
    const [older, both, newest] = [[OLD], [NEW, OLD], [NEW]].map(createAesSealer);
    if (older === undefined || both === undefined || newest === undefined) throw new Error("three sealers");
    expect([...(await lostValues(sealedRows, newest)).keys()]).toEqual([...SEALED_KINDS]);
    expect((await lostValues(sealedRows, older)).size).toBe(0);
    const lines: string[] = [];
    const count = await resealStore(sealedRows, both, (line) => lines.push(line));
    expect(count).toBeGreaterThan(15);
    expect(lines.at(0)).toMatch(/^submissions: \d+ checked, \d+ resealed$/);
    expect((await lostValues(sealedRows, newest)).size).toBe(0);
    expect([...(await lostValues(sealedRows, older)).keys()]).toEqual([...SEALED_KINDS]);
    expect(await resealStore(sealedRows, both, () => {})).toBe(0);

    // Reseal with the old secret so that the server can read it: nothing was lost.
    await resealStore(sealedRows, createAesSealer([OLD, NEW]), () => {});
    const seen = await server.call("GET", `/submissions/${handed.submissionId}`, { key: server.adminKey });
    expect(seen.body).toMatchObject({ resumeToken: handed.resumeToken, fields: { iban: "DE00 9999" } });
    const replay = await server.call("PATCH", `/resume/${held.open.resumeToken}/fields`, {
      body: { actor: { kind: "agent", id: "bot" }, fields: { name: "Ada" }, idempotencyKey: "copied-set-fields" },
    });
    expect(replay.body).toMatchObject({ _idempotent: true, resumeToken: held.set.body.resumeToken });
    const signed = await server.server.core.backend.intakes.get("signed");
    expect(signed?.definition.destination).toEqual(destination);
    const list = await server.call("GET", "/deliveries", { key: server.adminKey });
    expect(list.status).toBe(200);
  });

  test("[RUNNING-CLI-RESEAL] a row that changes meanwhile is left alone, and resealed by the next pass", async () => {
    const server = await startTestServer({ store, env: { FORMBRIDGE_SECRET: OLD } });
    closers.push(() => server.stop());
    await server.putIntake({ id: "forms" });
    const made = await created(server, "forms");
    const { sealedRows } = server.server.core.backend;
    const [row] = await sealedRows.page("submissions", 10);
    if (row === undefined) throw new Error("no row");
    const set = await server.call("PATCH", `/resume/${made.resumeToken}/fields`, {
      body: { actor: { kind: "agent", id: "bot" }, fields: { name: "Ada" } },
    });
    expect(await sealedRows.replace(row, { sealed_token: "late" })).toBe(false);
    const now = await server.call("GET", `/submissions/${made.submissionId}`, { key: server.adminKey });
    expect(now.body).toMatchObject({ version: 2, resumeToken: set.body.resumeToken });
  });
});

test("[RUNNING-CLI-RESEAL] retire says what is still sealed with a secret, and retires it after a reseal", async () => {
  const folder = tempFolder();
  closers.push(folder.remove);
  const env = {
    FORMBRIDGE_DATA: folder.path,
    FORMBRIDGE_LOG_LEVEL: "silent",
    FORMBRIDGE_WORKER: "off",
    FORMBRIDGE_PORT: "0",
    FORMBRIDGE_ADMIN_KEY: ADMIN,
  };
  const first = await serve(readConfig({ ...env, FORMBRIDGE_SECRET: OLD }));
  const actor = { kind: "human", id: "admin" };
  const made = await caller(first.url)("POST", "/intakes/contact/submissions", { key: ADMIN, body: { actor } });
  await first.stop();
  await (await serve(readConfig({ ...env, FORMBRIDGE_SECRET: `${NEW},${OLD}` }))).stop();
  const refused = await runCommand(["secrets", "retire"], { ...env, FORMBRIDGE_SECRET: NEW });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/still sealed with a secret .*\(submissions: 1\).*formbridge secrets reseal/s);
  const done = await runCommand(["secrets", "reseal"], { ...env, FORMBRIDGE_SECRET: `${NEW},${OLD}` });
  expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining("1 resealed") });
  expect(await runCommand(["secrets", "retire"], { ...env, FORMBRIDGE_SECRET: NEW })).toMatchObject({ code: 0 });
  const last = await serve(readConfig({ ...env, FORMBRIDGE_SECRET: NEW }));
  closers.push(() => last.stop());
  const read = await caller(last.url)("GET", `/submissions/${made.body.submissionId}`, { key: ADMIN });
  expect(read.body.resumeToken).toBe(made.body.resumeToken);
});
