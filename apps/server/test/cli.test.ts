import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { ConfigError, readConfig } from "@formbridge/server";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runCommand, start, startServerProcess, tempFolder } from "../../../test/support/child.ts";
import { until } from "../../../test/support/moves.ts";

// Each command is a process that loads everything: a second on a quiet machine, several on a busy one.
vi.setConfig({ testTimeout: 120_000 });

const run = promisify(execFile);
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function folder(): string {
  const made = tempFolder();
  closers.push(made.remove);
  return made.path;
}

async function serving(env: Record<string, string>) {
  const server = await startServerProcess(env);
  closers.push(() => server.kill());
  return server;
}

const after = (ms: number): Promise<string> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(`still running after ${ms} ms`), ms).unref();
  });

/** The curl line, once it has been printed; it comes last. */
const curlLine = (stdout: () => string): Promise<string> =>
  until(() =>
    stdout()
      .split("\n")
      .slice(0, -1)
      .find((line) => line.trim().startsWith("curl "))
      ?.trim(),
  );
const authorized = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

describe("serve", () => {
  it("[RUNNING-CLI-SERVE] prints the form of a submission that an agent started, at a terminal", async () => {
    const command = `${process.execPath} apps/server/bin/formbridge.mjs serve`;
    const env = { PATH: process.env.PATH ?? "", FORMBRIDGE_PORT: "0", FORMBRIDGE_DATA: folder() };
    // `script` gives the command a terminal of its own.
    const child = spawn("script", ["-qefc", command, "/dev/null"], { env, stdio: ["ignore", "pipe", "pipe"] });
    closers.push(async () => {
      child.kill();
      await once(child, "close");
    });
    let shown = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      shown += text;
    });
    const link = await until(() => /http:\S+\/resume\/rtok_[\w-]{43}/.exec(shown)?.[0], 60_000);
    const { fields, createdBy } = (await (await fetch(link)).json()) as Record<string, unknown>;
    expect(fields).toEqual({ item: "27-inch monitor", cost_center: "4100" });
    expect(createdBy).toMatchObject({ kind: "agent", id: "shopping_bot" });
  });

  it("[RUNNING-CLI-SERVE] [RUNNING-CLI-ADMIN-KEY] [RUNNING-CLI-SECRET] starts on an empty folder, and again", async () => {
    const data = join(folder(), "new");
    const first = await serving({ FORMBRIDGE_DATA: data });
    const { stdout } = await run("sh", ["-c", await curlLine(first.stdout)]);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      state: "in_progress",
      resumeToken: expect.stringMatching(/^rtok_/),
    });
    const adminKey = /fbk_[\w-]{43}/.exec(first.stdout())?.[0] ?? "";
    expect((await fetch(`${first.url}/keys`, authorized(adminKey))).status).toBe(200);
    for (const file of ["secret", "formbridge.db", "formbridge.db-wal"])
      expect(statSync(join(data, file)).mode & 0o777, file).toBe(0o600);
    expect((await first.stop()).code).toBe(0);

    const second = await serving({ FORMBRIDGE_DATA: data });
    const again = await run("sh", ["-c", await curlLine(second.stdout)]);
    expect(second.stdout()).not.toContain("fbk_");
    expect((await fetch(`${second.url}/keys`, authorized(adminKey))).status).toBe(200);
    expect(JSON.parse(again.stdout).ok).toBe(true);
    const list = await fetch(`${second.url}/submissions`, authorized(adminKey));
    expect(((await list.json()) as { items: unknown[] }).items).toHaveLength(2);
    // The link of an example contains a token, so it is shown in terminals only.
    expect(second.stdout()).not.toContain("rtok_");
  });

  it("[RUNNING-CLI-ADMIN-KEY] a preset key is used and not printed", async () => {
    const adminKey = `fbk_${"p".repeat(43)}`;
    const server = await serving({ FORMBRIDGE_DATA: folder(), FORMBRIDGE_ADMIN_KEY: adminKey });
    await curlLine(server.stdout);
    expect(server.output()).not.toContain(adminKey);
    expect(server.output()).not.toMatch(/fbk_/);
    expect((await fetch(`${server.url}/keys`, authorized(adminKey))).status).toBe(200);
  });

  it("[RUNNING-CLI-ENVIRONMENT] PORT and DATABASE_URL are accepted; the longer name wins", async () => {
    const data = folder();
    const file = join(data, "elsewhere.db");
    const server = await serving({
      PORT: "1",
      FORMBRIDGE_PORT: "0",
      FORMBRIDGE_DATA: data,
      DATABASE_URL: `sqlite:${file}`,
    });
    expect(new URL(server.url).port).not.toBe("1");
    expect(readdirSync(data)).toContain("elsewhere.db");
  });

  it("[RUNNING-CLI-ENVIRONMENT] the names of the contract and their aliases are read", () => {
    expect(readConfig({ PORT: "8123" })).toMatchObject({ port: 8123 });
    expect(readConfig({ PORT: "8123", FORMBRIDGE_PORT: "8124" })).toMatchObject({ port: 8124 });
    expect(readConfig({ DATABASE_URL: "memory:" }).database).toEqual({ kind: "memory" });
    expect(readConfig({ FORMBRIDGE_DATABASE_URL: "sqlite:/x/y.db", DATABASE_URL: "memory:" }).database).toMatchObject({
      kind: "sqlite",
      file: "/x/y.db",
    });
    expect(readConfig({ FORMBRIDGE_HOST: "::1", FORMBRIDGE_DATA: "/d", FORMBRIDGE_INTAKES: "/i" })).toMatchObject({
      host: "::1",
      dataFolder: "/d",
      intakesFolder: "/i",
    });
  });

  it("[RUNNING-CLI-ADMIN-KEY] a failed start exits, and the next one still prints the key", async () => {
    const data = folder();
    const occupant = createServer().listen(0, "127.0.0.1");
    await once(occupant, "listening");
    closers.push(() => occupant.close());
    const { port } = occupant.address() as AddressInfo;
    const failed = start(["serve"], { FORMBRIDGE_PORT: String(port), FORMBRIDGE_DATA: data });
    closers.push(() => failed.child.kill("SIGKILL"));
    await until(() => failed.stderr().includes(String(port)) || undefined, 60_000);
    const ended = await Promise.race([failed.finished, after(60_000)]);
    expect(ended).toMatchObject({ code: 1 });
    const server = await serving({ FORMBRIDGE_DATA: data });
    await curlLine(server.stdout);
    expect(server.stdout()).toMatch(/fbk_[\w-]{43}/);
  });

  it("[RUNNING-CLI-BAD-SETTING] a bad setting stops the start with an explanation and without a stack trace", async () => {
    const { code, stdout, stderr } = await runCommand(["serve"], {
      FORMBRIDGE_DATA: folder(),
      FORMBRIDGE_PORT: "eighty",
    });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe('FORMBRIDGE_PORT is "eighty"; it takes a whole number from 0 to 65535.\n');
  });

  it.each([
    ["FORMBRIDGE_PORT", "70000", "65535"],
    ["FORMBRIDGE_DATABASE_URL", "mysql://db/x", "sqlite:"],
    ["FORMBRIDGE_PUBLIC_URL", "not a url", "URL"],
    ["FORMBRIDGE_RATE_LIMIT", "maybe", "off"],
    ["FORMBRIDGE_TRUST_PROXY", "perhaps", "1 or 0"],
    ["FORMBRIDGE_LOG_LEVEL", "loud", "debug"],
    ["FORMBRIDGE_SUBMISSION_TTL_MS", "-5", "whole number"],
    ["FORMBRIDGE_SWEEP_INTERVAL_MS", "1e3", "whole number"],
  ])("[RUNNING-CLI-BAD-SETTING] %s=%s is named with its value and the accepted values", (name, value, takes) => {
    expect(() => readConfig({ [name]: value })).toThrow(ConfigError);
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`${name}.*${value}.*${takes}`));
  });

  it.each([
    ["FORMBRIDGE_SECRET", "short-pa55", "16"],
    ["FORMBRIDGE_ADMIN_KEY", "pa55 word", "printable"],
    ["FORMBRIDGE_DATABASE_URL", "mysql://root:pa55@db/x", "sqlite:"],
    ["FORMBRIDGE_DATABASE_DIRECT_URL", "mysql://root:pa55@db/x", "postgres:"],
  ])("[RUNNING-CLI-BAD-SETTING] a bad %s is named without showing its value", (name, value, takes) => {
    const refused = (): unknown => readConfig({ FORMBRIDGE_DATABASE_URL: "postgres://u@db/x", [name]: value });
    expect(refused).toThrow(new RegExp(`${name}.*${takes}`));
    expect(refused).not.toThrow(/pa55/);
  });
});

describe("help", () => {
  it("[RUNNING-CLI-HELP] names every command, and every setting with its default", async () => {
    const [top, serveHelp, keysHelp] = await Promise.all(
      [["--help"], ["serve", "--help"], ["keys", "create", "--help"]].map((words) => runCommand(words, {})),
    );
    expect(top?.code).toBe(0);
    for (const command of ["serve", "keys", "intakes", "events", "verify", "migrate", "doctor"])
      expect(top?.stdout).toContain(command);
    const serve = serveHelp?.stdout ?? "";
    const defaults: Record<string, string> = {
      FORMBRIDGE_HOST: "127.0.0.1",
      FORMBRIDGE_PORT: "3000",
      FORMBRIDGE_DATA: "",
      FORMBRIDGE_DATABASE_URL: "sqlite",
      FORMBRIDGE_PUBLIC_URL: "",
      FORMBRIDGE_SECRET: "",
      FORMBRIDGE_ADMIN_KEY: "",
      FORMBRIDGE_INTAKES: "examples/intakes",
      FORMBRIDGE_TRUST_PROXY: "",
      FORMBRIDGE_RATE_LIMIT: "on",
      FORMBRIDGE_SUBMISSION_TTL_MS: "604800000",
      FORMBRIDGE_TOKEN_TTL_MS: "604800000",
      FORMBRIDGE_TOKEN_TTL_MIN_MS: "3600000",
      FORMBRIDGE_TOKEN_TTL_MAX_MS: "2592000000",
      FORMBRIDGE_IDEMPOTENCY_TTL_MS: "86400000",
      FORMBRIDGE_STALE_READ_GRACE_MS: "30000",
      FORMBRIDGE_CLOCK_SKEW_MS: "30000",
      FORMBRIDGE_SWEEP_INTERVAL_MS: "",
      FORMBRIDGE_ALLOW_TEST_HEADERS: "",
    };
    for (const [name, fallback] of Object.entries(defaults)) {
      const place = serve.indexOf(name);
      expect([name, place >= 0]).toEqual([name, true]);
      expect(serve.slice(place, serve.indexOf("\n  FORMBRIDGE", place))).toContain(fallback);
    }
    expect(serve).toMatch(/Example/);
    expect(keysHelp?.stdout).toMatch(/Example/);
  });

  it("[RUNNING-CLI-UNKNOWN] an unknown argument fails and shows the usage", async () => {
    const data = { FORMBRIDGE_DATA: folder() };
    const [unknown, missing, wrong] = await Promise.all([
      runCommand(["frobnicate"], data),
      runCommand(["keys", "create", "--name", "x"], data),
      runCommand(["keys", "create", "--name", "x", "--role", "king", "--actor", "agent:b"], data),
    ]);
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("frobnicate")]);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringMatching(/--role|--actor/)]);
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("viewer")]);
  });
});

describe("keys", () => {
  it("[RUNNING-CLI-KEYS] creates, lists and revokes keys, effective at once on a running server", async () => {
    const env = { FORMBRIDGE_DATA: folder() };
    const server = await serving(env);
    const made = await runCommand(
      [
        "keys",
        "create",
        "--name",
        "Bot",
        "--role",
        "agent",
        "viewer",
        "--actor",
        "agent:bot",
        "--intake",
        "contact",
        "--expires",
        "2099-01-01",
      ],
      env,
    );
    const [keyId = "", key = ""] = made.stdout.trim().split("\n");
    expect([made.code, key]).toEqual([0, expect.stringMatching(/^fbk_[\w-]{43}$/)]);
    expect((await fetch(`${server.url}/submissions`, authorized(key))).status).toBe(200);
    const listed = await runCommand(["keys", "list"], env);
    expect(listed.stdout).toContain(`${keyId}  agent,viewer  agent:bot  Bot`);
    expect(listed.stdout).not.toContain("fbk_");
    expect(await runCommand(["keys", "revoke", keyId], env)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(keyId),
    });
    expect((await fetch(`${server.url}/submissions`, authorized(key))).status).toBe(401);
    expect(await runCommand(["keys", "revoke", keyId], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(keyId),
    });
    expect((await runCommand(["keys", "list"], env)).stdout).not.toContain(keyId);
  });

  it("[RUNNING-CLI-KEYS] a key may belong to another tenant, and to an actor whose id has colons", async () => {
    const env = { FORMBRIDGE_DATA: folder() };
    const made = await runCommand(
      ["keys", "create", "--name", "Boss", "--role", "admin", "--actor", "human:boss", "--tenant", "acme"],
      env,
    );
    const [keyId = ""] = made.stdout.split("\n");
    expect((await runCommand(["keys", "list"], env)).stdout).not.toContain(keyId);
    expect((await runCommand(["keys", "list", "--tenant", "acme"], env)).stdout).toContain(keyId);
    await runCommand(["keys", "create", "--name", "One", "--role", "agent", "--actor", "human:issuer:ada"], env);
    expect((await runCommand(["keys", "list"], env)).stdout).toContain("human:issuer:ada");
    const bad = await runCommand(["keys", "create", "--name", "x", "--role", "agent", "--actor", "robot:1"], env);
    expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining("--actor")]);
  });
});

describe("intakes check", () => {
  const good = { id: "good", version: "1", name: "Good", schema: { type: "object" }, destination: { kind: "store" } };

  it("[RUNNING-CLI-INTAKES-CHECK] accepts the examples", async () => {
    const { code, stdout } = await runCommand(["intakes", "check"], { FORMBRIDGE_DATA: folder() });
    expect(code).toBe(0);
    expect(stdout).toContain("ok  contact");
  });

  it("[RUNNING-CLI-INTAKES-CHECK] names the file and location of every problem, and so does the start", async () => {
    const place = folder();
    const put = (name: string, content: unknown) =>
      writeFileSync(join(place, name), typeof content === "string" ? content : JSON.stringify(content));
    put("good.json", good);
    put("twin.json", good);
    put("broken.json", '{ "id": ');
    put("typo.json", { ...good, id: "typo", schema: { type: "object", properties: { a: { type: "strin" } } } });
    put("gate.json", {
      ...good,
      id: "gate",
      approvalGates: [{ name: "g", reviewers: {}, autoApproveIf: { nope: 1 } }],
      destination: { kind: "webhook" },
    });
    const checked = await runCommand(["intakes", "check", place], { FORMBRIDGE_DATA: folder() });
    expect(checked.code).toBe(1);
    expect(checked.stdout).toContain("ok  good");
    for (const words of [
      /broken\.json.*JSON/,
      /typo\.json at schema\.properties\.a/,
      /gate\.json at approvalGates\.0\.autoApproveIf/,
      /gate\.json at destination\.url/,
      /twin\.json at id.*good/,
    ]) {
      expect(checked.stderr).toMatch(words);
    }
    const started = await runCommand(["serve"], { FORMBRIDGE_DATA: folder(), FORMBRIDGE_INTAKES: place });
    expect(started.code).toBe(1);
    expect(started.stderr).toMatch(/typo\.json at schema\.properties\.a/);
  });

  it("[RUNNING-CLI-INTAKES-CHECK] reports that the folder does not exist", async () => {
    const { code, stderr } = await runCommand(["intakes", "check", "/nowhere"], { FORMBRIDGE_DATA: folder() });
    expect([code, stderr.trim()]).toEqual([
      1,
      "/nowhere: can't be read (ENOENT). Set FORMBRIDGE_INTAKES to the folder with your intakes.",
    ]);
  });

  it("[RUNNING-INTAKES-FOLDER-CHANGED] a definition changed without a new version stops the start and names the file", async () => {
    const [place, data] = [folder(), folder()];
    const env = { FORMBRIDGE_DATA: data, FORMBRIDGE_INTAKES: place };
    const file = join(place, "good.json");
    writeFileSync(file, JSON.stringify(good));
    await (await serving(env)).stop();
    writeFileSync(file, readFileSync(file, "utf8").replace("Good", "Better"));
    const { code, stderr } = await runCommand(["serve"], env);
    expect(code).toBe(1);
    expect(stderr).toMatch(/good\.json.*version/s);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});
