import { execFile } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { runCommand, startServerProcess, tempFolder } from "../../../test/support/child.ts";

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

const curlLine = (stdout: string): string =>
  stdout
    .split("\n")
    .find((line) => line.trim().startsWith("curl "))
    ?.trim() ?? "";
const authorized = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

describe("serve", () => {
  it("[RUNNING-CLI-SERVE] [RUNNING-CLI-ADMIN-KEY] [RUNNING-CLI-SECRET] starts on an empty folder, and again", async () => {
    const data = join(folder(), "new");
    const first = await serving({ FORMBRIDGE_DATA: data });
    const { stdout } = await run("sh", ["-c", curlLine(first.stdout())]);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      state: "in_progress",
      resumeToken: expect.stringMatching(/^rtok_/),
    });
    const adminKey = /fbk_[\w-]{43}/.exec(first.stdout())?.[0] ?? "";
    expect((await fetch(`${first.url}/keys`, authorized(adminKey))).status).toBe(200);
    expect(statSync(join(data, "secret")).mode & 0o777).toBe(0o600);
    expect((await first.stop()).code).toBe(0);

    const second = await serving({ FORMBRIDGE_DATA: data });
    expect(second.stdout()).not.toContain("fbk_");
    expect((await fetch(`${second.url}/keys`, authorized(adminKey))).status).toBe(200);
    const again = await run("sh", ["-c", curlLine(second.stdout())]);
    expect(JSON.parse(again.stdout).ok).toBe(true);
    const list = await fetch(`${second.url}/submissions`, authorized(adminKey));
    expect(((await list.json()) as { items: unknown[] }).items).toHaveLength(2);
  });

  it("[RUNNING-CLI-ADMIN-KEY] a preset key is used and not printed", async () => {
    const adminKey = `fbk_${"p".repeat(43)}`;
    const server = await serving({ FORMBRIDGE_DATA: folder(), FORMBRIDGE_ADMIN_KEY: adminKey });
    expect(server.output()).not.toContain(adminKey);
    expect(server.output()).not.toMatch(/fbk_/);
    expect((await fetch(`${server.url}/keys`, authorized(adminKey))).status).toBe(200);
  });

  it("[RUNNING-CLI-ENVIRONMENT] PORT and DATABASE_URL are known; the longer name wins", async () => {
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
    const memory = await serving({ FORMBRIDGE_DATA: join(data, "unused"), FORMBRIDGE_DATABASE_URL: "memory:" });
    expect((await fetch(`${memory.url}/readyz`)).status).toBe(200);
    expect(readdirSync(data)).not.toContain("unused");
    const taken = await runCommand(["serve"], {
      FORMBRIDGE_PORT: "",
      PORT: new URL(server.url).port,
      FORMBRIDGE_DATA: folder(),
    });
    expect(taken.code).toBe(1);
    expect(taken.stderr).toContain(new URL(server.url).port);
  });

  it.each([
    ["FORMBRIDGE_PORT", "eighty", "whole number"],
    ["FORMBRIDGE_PORT", "70000", "65535"],
    ["FORMBRIDGE_DATABASE_URL", "mysql://root:pa55@db/x", "sqlite:"],
    ["FORMBRIDGE_PUBLIC_URL", "not a url", "URL"],
    ["FORMBRIDGE_RATE_LIMIT", "maybe", "off"],
    ["FORMBRIDGE_TRUST_PROXY", "perhaps", "1 or 0"],
    ["FORMBRIDGE_LOG_LEVEL", "loud", "debug"],
    ["FORMBRIDGE_SUBMISSION_TTL_MS", "-5", "whole number"],
    ["FORMBRIDGE_SECRET", "short-pa55", "16"],
    ["FORMBRIDGE_ADMIN_KEY", "a b", "printable"],
  ])("[RUNNING-CLI-BAD-SETTING] %s=%s stops the start, in words", async (name, value, takes) => {
    const { code, stdout, stderr } = await runCommand(["serve"], { FORMBRIDGE_DATA: folder(), [name]: value });
    expect(code).toBe(1);
    expect(stdout).not.toContain("listening");
    expect(stderr).toContain(name);
    expect(stderr).toContain(takes);
    expect(stderr).not.toMatch(/pa55|\n\s+at /);
    if (!["FORMBRIDGE_SECRET", "FORMBRIDGE_ADMIN_KEY", "FORMBRIDGE_DATABASE_URL"].includes(name))
      expect(stderr).toContain(value);
  });
});

describe("help", () => {
  it("[RUNNING-CLI-HELP] names every command, and every setting with its default", async () => {
    const top = await runCommand(["--help"], {});
    expect(top.code).toBe(0);
    for (const command of ["serve", "keys", "intakes", "events", "verify", "migrate", "doctor"])
      expect(top.stdout).toContain(command);
    const serve = (await runCommand(["serve", "--help"], {})).stdout;
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
    expect((await runCommand(["keys", "create", "--help"], {})).stdout).toMatch(/Example/);
  });

  it("[RUNNING-CLI-UNKNOWN] what it does not know fails and shows how it is done", async () => {
    const unknown = await runCommand(["frobnicate"], {});
    expect(unknown.code).not.toBe(0);
    expect(unknown.stderr).toMatch(/Usage|Commands/);
    const missing = await runCommand(["keys", "create", "--name", "x"], { FORMBRIDGE_DATA: folder() });
    expect(missing.code).not.toBe(0);
    expect(missing.stderr).toMatch(/--role|--actor/);
    const wrong = await runCommand(["keys", "create", "--name", "x", "--role", "king", "--actor", "agent:b"], {
      FORMBRIDGE_DATA: folder(),
    });
    expect(wrong.code).not.toBe(0);
    expect(wrong.stderr).toContain("viewer");
  });
});

describe("keys", () => {
  it("[RUNNING-CLI-KEYS] makes, lists and revokes keys that a running server honours at once", async () => {
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

  it("[RUNNING-CLI-KEYS] a key may be of another tenant", async () => {
    const env = { FORMBRIDGE_DATA: folder() };
    const made = await runCommand(
      ["keys", "create", "--name", "Boss", "--role", "admin", "--actor", "human:boss", "--tenant", "acme"],
      env,
    );
    const [keyId = ""] = made.stdout.split("\n");
    expect((await runCommand(["keys", "list"], env)).stdout).not.toContain(keyId);
    expect((await runCommand(["keys", "list", "--tenant", "acme"], env)).stdout).toContain(keyId);
    const bad = await runCommand(["keys", "create", "--name", "x", "--role", "agent", "--actor", "robot:1"], env);
    expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining("--actor")]);
  });
});

describe("intakes check", () => {
  const good = { id: "good", version: "1", name: "Good", schema: { type: "object" }, destination: { kind: "store" } };

  it("[RUNNING-CLI-INTAKES-CHECK] says ok to the examples", async () => {
    const { code, stdout } = await runCommand(["intakes", "check"], { FORMBRIDGE_DATA: folder() });
    expect(code).toBe(0);
    expect(stdout).toContain("ok  contact");
  });

  it("[RUNNING-CLI-INTAKES-CHECK] names file and place of every problem, and the start says the same", async () => {
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

  it("[RUNNING-INTAKES-FOLDER-CHANGED] a definition changed under its version stops the start, naming the file", async () => {
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
