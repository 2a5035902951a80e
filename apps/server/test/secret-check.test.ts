import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningServer, readConfig, serve } from "@formbridge/server";
import { afterEach, describe, expect, test, vi } from "vitest";
import { runCommand, tempFolder } from "../../../test/support/child.ts";
import { caller, type Reply } from "../../../test/support/harness.ts";
import { createMigratedDatabase } from "../../../test/support/services/postgres.ts";

// Commands are processes that load everything.
vi.setConfig({ testTimeout: 120_000 });

const OLD = "the old secret of these tests";
const NEW = "the new secret of these tests";
const ADMIN = `fbk_${"c".repeat(43)}`;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Env = Record<string, string>;

function folderEnv(): Env {
  const folder = tempFolder();
  closers.push(folder.remove);
  return {
    FORMBRIDGE_DATA: folder.path,
    FORMBRIDGE_LOG_LEVEL: "silent",
    FORMBRIDGE_WORKER: "off",
    FORMBRIDGE_PORT: "0",
  };
}

async function postgresEnv(): Promise<Env> {
  const database = await createMigratedDatabase();
  closers.push(database.drop);
  return { ...folderEnv(), FORMBRIDGE_DATABASE_URL: database.url };
}

interface Instance {
  create(): Promise<string>;
  read(submissionId: string): Promise<Reply>;
  stop(): Promise<void>;
}

async function started(env: Env): Promise<Instance> {
  const running: RunningServer = await serve(readConfig({ ...env, FORMBRIDGE_ADMIN_KEY: ADMIN }));
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (!isStopped) await running.stop();
    isStopped = true;
  };
  closers.push(stop);
  const call = caller(running.url);
  return {
    async create() {
      const actor = { kind: "human", id: "admin" };
      const made = await call("POST", "/intakes/contact/submissions", { key: ADMIN, body: { actor } });
      expect(made.status).toBe(201);
      return made.body.submissionId;
    },
    read: (submissionId) => call("GET", `/submissions/${submissionId}`, { key: ADMIN }),
    stop,
  };
}

/** Every instance can read every submission, including its token, which only the right secret opens. */
async function expectAllReadable(instances: Instance[], ids: string[]): Promise<void> {
  for (const instance of instances) {
    for (const id of ids) {
      expect(await instance.read(id)).toMatchObject({
        status: 200,
        body: { resumeToken: expect.stringMatching(/^rtok_/) },
      });
    }
  }
}

describe.each([
  ["sqlite", async () => folderEnv()],
  ["postgres", postgresEnv],
] as const)("on %s", (_store, environment) => {
  test("[AUDIT-F25] a server with another secret refuses to start and says what to do; so does doctor", async () => {
    const env = await environment();
    await (await started({ ...env, FORMBRIDGE_SECRET: OLD })).stop();
    const other = { ...env, FORMBRIDGE_SECRET: NEW };
    await expect(started(other)).rejects.toThrow(/was sealed with a different secret\. Set FORMBRIDGE_SECRET/);
    const doctor = await runCommand(["doctor"], other);
    expect(doctor).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("BAD This database was sealed with a different secret"),
    });
    expect(doctor.stdout + doctor.stderr).not.toContain(NEW);
    expect(await runCommand(["doctor"], { ...env, FORMBRIDGE_SECRET: OLD })).toMatchObject({ code: 0 });
    await (await started({ ...env, FORMBRIDGE_SECRET: OLD })).stop();
  });

  test("[AUDIT-F25] once a server has sealed with the new secret, no server starts without it or without the old one", async () => {
    const env = await environment();
    const first = await started({ ...env, FORMBRIDGE_SECRET: OLD });
    const id = await first.create();
    await first.stop();
    // In second place the new secret only opens and doesn't seal, so nothing changes yet.
    await (await started({ ...env, FORMBRIDGE_SECRET: `${OLD},${NEW}` })).stop();
    await (await started({ ...env, FORMBRIDGE_SECRET: OLD })).stop();
    await (await started({ ...env, FORMBRIDGE_SECRET: `${NEW},${OLD}` })).stop();
    for (const secret of [OLD, NEW]) {
      await expect(started({ ...env, FORMBRIDGE_SECRET: secret })).rejects.toThrow(/Add it to FORMBRIDGE_SECRET/);
    }
    await expectAllReadable([await started({ ...env, FORMBRIDGE_SECRET: `${NEW},${OLD}` })], [id]);
  });
});

test("[AUDIT-F25] a secret is rotated over running instances, and each of them can read everything at every step", async () => {
  const env = await postgresEnv();
  const ids: string[] = [];
  let [a, b] = [await started({ ...env, FORMBRIDGE_SECRET: OLD }), await started({ ...env, FORMBRIDGE_SECRET: OLD })];
  const step = async (): Promise<void> => {
    ids.push(await a.create(), await b.create());
    await expectAllReadable([a, b], ids);
  };
  await step();
  for (const secrets of [`${OLD},${NEW}`, `${NEW},${OLD}`]) {
    await a.stop();
    a = await started({ ...env, FORMBRIDGE_SECRET: secrets });
    await step();
    await b.stop();
    b = await started({ ...env, FORMBRIDGE_SECRET: secrets });
    await step();
  }
});

test("[AUDIT-F25] of two first starts with different secrets on one database, one is refused", async () => {
  const env = await postgresEnv();
  const starts = await Promise.allSettled([OLD, NEW].map((secret) => started({ ...env, FORMBRIDGE_SECRET: secret })));
  expect(starts.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});

test("[AUDIT-F25] a missing secret file is not replaced by a new one over existing data", async () => {
  const env = folderEnv();
  const file = join(env.FORMBRIDGE_DATA ?? "", "secret");
  const first = await started(env);
  const id = await first.create();
  await first.stop();
  const secret = readFileSync(file, "utf8");
  rmSync(file);
  await expect(started(env)).rejects.toThrow(/secret is missing, but the database is sealed.*Restore the file/);
  expect(await runCommand(["doctor"], env)).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/BAD .*Restore the file/),
  });
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, "some other secret, put there", { mode: 0o600 });
  await expect(started(env)).rejects.toThrow(/was sealed with a different secret/);
  writeFileSync(file, secret, { mode: 0o600 });
  await expectAllReadable([await started(env)], [id]);
});
