import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Finished, runCommand } from "../../../test/support/child.ts";
import { startTestServer, type TestServer } from "../../../test/support/harness.ts";

// Each command is a process that loads everything: a second on a quiet machine, several on a busy one.
vi.setConfig({ testTimeout: 120_000 });

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const PROBE = JSON.parse(readFileSync(new URL("../../../examples/probe/probe.json", import.meta.url), "utf8"));

interface Serving {
  server: TestServer;
  key: string;
  run(...args: string[]): Promise<Finished>;
}

/** A server with the intake for probes, and a key that may do nothing else. */
async function serving(options: Parameters<typeof startTestServer>[0] = {}): Promise<Serving> {
  const server = await startTestServer(options);
  closers.push(() => server.stop());
  expect((await server.putIntake(PROBE)).status).toBe(201);
  const key = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "probe" }, intakes: ["probe"] });
  const run = (...args: string[]) => runCommand([...args, "--url", server.url], { FORMBRIDGE_PROBE_KEY: key });
  return { server, key, run };
}

const statesOf = async (server: TestServer, intakeId: string): Promise<string[]> => {
  const { body } = await server.call("GET", `/submissions?intakeId=${intakeId}&limit=1000`, { key: server.adminKey });
  return body.items.map(({ state }: { state: string }) => state);
};

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function listening(handler: RequestListener): Promise<string> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return urlOf(server);
}

describe("probe", () => {
  it("[RUNNING-CLI-PROBE] submits one submission and says how long each step took", async () => {
    const { server, run } = await serving();
    const probed = await run("probe");
    expect(probed).toMatchObject({ code: 0, stderr: "" });
    const ms = String.raw`\d+ ms`;
    expect(probed.stdout).toMatch(
      new RegExp(
        `^ok  ${server.url}  create ${ms}  set ${ms}  read ${ms}  submit ${ms}  total ${ms}  finalized  sub_\\S+\\n$`,
      ),
    );
    expect(await statesOf(server, "probe")).toEqual(["finalized"]);
  });

  it("[RUNNING-CLI-PROBE] works without a key on a public intake, and leaves nothing open when a step fails", async () => {
    const { server } = await serving();
    await server.putIntake({ id: "open" });
    const run = (fields: object) =>
      runCommand(["probe", "--url", server.url, "--intake", "open", "--fields", JSON.stringify(fields)], {});
    const [filled, incomplete] = [await run({ name: "Ada" }), await run({ note: "without the required name" })];
    expect(filled).toMatchObject({ code: 0, stdout: expect.stringContaining("finalized") });
    expect(incomplete).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/^FAILED.*submit: 422 /) });
    expect((await statesOf(server, "open")).sort()).toEqual(["cancelled", "finalized"]);
  });

  it("[RUNNING-CLI-PROBE] sends nothing to a destination or to reviewers unless it is told to", async () => {
    const { server, key } = await serving();
    const gate = { name: "lead", reviewers: { ids: ["lead"] } };
    await server.putIntake({ id: "far", destination: { kind: "webhook", url: "https://example.com/hook" } });
    await server.putIntake({ id: "gated", approvalGates: [gate] });
    const fields = JSON.stringify({ name: "Ada" });
    const run = (intake: string, ...more: string[]) =>
      runCommand(["probe", "--url", server.url, "--intake", intake, "--fields", fields, ...more], {});
    expect(await run("far")).toMatchObject({ code: 1, stderr: expect.stringContaining("delivers to a destination") });
    expect(await run("gated")).toMatchObject({ code: 1, stderr: expect.stringContaining("asks reviewers") });
    expect([await statesOf(server, "far"), await statesOf(server, "gated")]).toEqual([[], []]);
    const allowed = await run("gated", "--deliver");
    expect(allowed).toMatchObject({ code: 0, stdout: expect.stringMatching(/cancel \d+ ms .* cancelled/) });
    expect(await statesOf(server, "gated")).toEqual(["cancelled"]);
    expect(allowed.stdout + allowed.stderr).not.toMatch(new RegExp(`rtok_|${key}`));
  });

  it("[RUNNING-CLI-PROBE] fails in one line when nothing listens, nothing answers, or key or intake is missing", async () => {
    const { server, run } = await serving();
    const silent = await listening(() => {});
    const gone = createServer();
    await new Promise<void>((resolve) => gone.listen(0, "127.0.0.1", resolve));
    const nowhere = urlOf(gone);
    await new Promise((resolve) => gone.close(resolve));
    const outcomes = await Promise.all([
      runCommand(["probe", "--url", nowhere], {}),
      runCommand(["probe", "--url", silent, "--timeout", "300"], {}),
      run("probe", "--intake", "none"),
      runCommand(["probe", "--url", server.url], {}),
      runCommand(["probe", "--url", "http://me:secret@127.0.0.1"], {}),
    ]);
    const missing = ["there is no intake none", "Set FORMBRIDGE_PROBE_KEY", "--url has a user name"];
    const words = ["ECONNREFUSED", "no response after", ...missing];
    for (const [index, { code, stdout, stderr }] of outcomes.entries()) {
      expect([code, stdout, stderr.trim().split("\n").length]).toEqual([1, "", 1]);
      expect(stderr).toContain(words[index]);
    }
  });
});

const FAULTS = 10;

describe.each(["sqlite", "postgres"] as const)("chaos on %s", (store) => {
  it("[RUNNING-CLI-CHAOS] makes every fault on a staging server, which keeps its promises and has nothing open after it", async () => {
    const env = { FORMBRIDGE_STAGING: "on", FORMBRIDGE_RATE_LIMIT: "on", FORMBRIDGE_ALARM_FAILED_LOOKUPS: "5/1m" };
    const { server, run } = await serving({ store, env, fakeClock: false });
    const { code, stdout, stderr } = await run("chaos");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const rows = stdout
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => line.split(/\s{2,}/));
    expect(rows.map(([, , , result]) => result)).toEqual(rows.map(() => "ok"));
    expect(rows.length).toBeGreaterThan(FAULTS);
    for (const [, tried] of rows) expect(Number(tried)).toBeGreaterThan(2);
    expect(new Set(await statesOf(server, "probe"))).toEqual(new Set(["finalized", "cancelled"]));
    // Whoever guesses tokens has no key, and so the server watches their address.
    await server.server.core.operations.flushAudit();
    const guesses = await server.call("GET", "/incidents?kind=failed_lookups", { key: server.adminKey });
    expect(guesses.body.items).toHaveLength(1);
  });
});

/** The server behind a proxy that drops idempotency keys and misnumbers events. */
const careless = (server: TestServer): Promise<string> =>
  listening(async (request, response) => {
    const parts: Buffer[] = [];
    try {
      for await (const part of request) parts.push(part);
    } catch {
      return;
    }
    const body = Buffer.concat(parts)
      .toString()
      .replace(/,"idempotencyKey":"[^"]*"/, "");
    const { authorization = "", "content-type": type = "application/json" } = request.headers;
    const answer = await fetch(server.url + request.url, {
      method: request.method ?? "GET",
      headers: { accept: "application/json", authorization, "content-type": type },
      ...(body !== "" && { body }),
    });
    const text = (await answer.text()).replace('"seq":2,', '"seq":3,');
    response.writeHead(answer.status, { "content-type": "application/json" }).end(text);
  });

describe("chaos", () => {
  it("[RUNNING-CLI-CHAOS] names the promises that a careless server breaks", async () => {
    const { server, key } = await serving({ env: { FORMBRIDGE_STAGING: "on" }, fakeClock: false });
    const env = { FORMBRIDGE_PROBE_KEY: key };
    const { code, stdout, stderr } = await runCommand(["chaos", "--url", await careless(server)], env);
    expect(code).toBe(1);
    expect(stdout).toMatch(/one create, sent 20 times at once .* [1-9]\d* problems/);
    expect(stderr).toContain("one key, 20 results");
    expect(stderr).toMatch(/nothing is doubled: sub_\S+ was created without being acknowledged/);
    expect(stderr).toMatch(/histories verify: sub_\S+: \w+ event 3: seq is 3, expected 2/);
  });

  it("[RUNNING-CLI-CHAOS] is refused by a server that isn't a staging server, without a key, and where it would deliver", async () => {
    const { server, run } = await serving();
    const staging = await serving({ env: { FORMBRIDGE_STAGING: "on" } });
    await staging.server.putIntake({ id: "far", destination: { kind: "webhook", url: "https://example.com/hook" } });
    const env = { FORMBRIDGE_PROBE_KEY: staging.server.adminKey };
    const [real, keyless, far] = await Promise.all([
      run("chaos"),
      runCommand(["chaos", "--url", staging.server.url], {}),
      runCommand(["chaos", "--url", staging.server.url, "--intake", "far", "--field", "name"], env),
    ]);
    expect(real).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("is not a staging server") });
    expect(keyless).toMatchObject({ code: 1, stderr: expect.stringContaining("FORMBRIDGE_PROBE_KEY is not set") });
    expect(far).toMatchObject({ code: 1, stderr: expect.stringContaining("delivers to a destination") });
    expect(await statesOf(server, "probe")).toEqual([]);
    expect(await statesOf(staging.server, "far")).toEqual([]);
    const said = async ({ call }: TestServer) => (await call("GET", "/healthz")).body.staging;
    expect([await said(server), await said(staging.server)]).toEqual([undefined, true]);
  });
});
