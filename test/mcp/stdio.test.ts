import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tempFolder } from "../support/child.ts";
import type { Loose, TestServer } from "../support/harness.ts";
import { byUs, type Host, hostOf } from "../support/mcp.ts";
import { record } from "../support/submissions.ts";
import { emptyServer } from "./scene.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BIN = join(ROOT, "apps/server/bin/formbridge.mjs");
/** A process starts in well under a second, but may take long on a busy machine. */
const PATIENCE = 60_000;
const folder = tempFolder();
let server: TestServer;
let key: string;

beforeAll(async () => {
  server = await emptyServer();
  await server.putIntake({ id: "note", access: "key" });
  key = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "bridged" } });
});
afterAll(async () => {
  await server.stop();
  folder.remove();
});

const env = (more: Record<string, string> = {}) => ({
  PATH: process.env.PATH ?? "",
  FORMBRIDGE_DATA: folder.path,
  FORMBRIDGE_PORT: "0",
  ...more,
});

/** A host that starts the command as its configuration says. */
async function startHost(args: string[], more: Record<string, string>, era: "modern" | "legacy"): Promise<Host> {
  const mode = era === "modern" ? { pin: "2026-07-28" as const } : ("legacy" as const);
  const client = new Client(
    { name: "desktop", version: "1" },
    { versionNegotiation: { mode }, jsonSchemaValidator: byUs },
  );
  const command = { command: process.execPath, args: [BIN, "mcp", ...args], env: env(more), cwd: ROOT };
  await client.connect(new StdioClientTransport({ ...command, stderr: "ignore" }), { timeout: PATIENCE });
  return hostOf(client);
}

/** The command on its own, to see every byte that it writes. */
function startBare(args: string[], more: Record<string, string> = {}) {
  const child = spawn(process.execPath, [BIN, "mcp", ...args], { cwd: ROOT, env: env(more) });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (text) => {
    stdout += text;
  });
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const lines = () => stdout.split("\n").filter((line) => line !== "");
  return {
    child,
    ended,
    stderr: () => stderr,
    lines,
    send: (message: unknown) =>
      child.stdin.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`),
    answer: async (id: number): Promise<Loose> => {
      const found = () =>
        lines()
          .map((line) => JSON.parse(line))
          .find((message) => message.id === id);
      await expect.poll(found, { timeout: PATIENCE, interval: 20 }).toBeDefined();
      return found();
    },
  };
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bare", version: "1" } },
};

describe("formbridge mcp", { timeout: 2 * PATIENCE }, () => {
  it("[MCP-STDIO] serves its own store to a host", async () => {
    const host = await startHost([], {}, "modern");
    expect((await host.tools()).map(({ name }) => name)).toContain("formbridge_vendor-onboarding_create");
    const made = await host.done("formbridge_vendor-onboarding_create", { initialFields: { legal_name: "Acme" } });
    const { submissionId, resumeToken } = made;
    const link = await host.done("formbridge_vendor-onboarding_handoff", { resumeToken });
    const reply = await fetch(link.url, { headers: { accept: "application/json" } });
    expect(reply.status).toBe(200);
    const read = await host.done("formbridge_vendor-onboarding_status", { submissionId });
    expect(read).toMatchObject({ fields: { legal_name: "Acme" }, lastUpdatedBy: { kind: "agent", id: "local-agent" } });
    await host.close();
  });

  it("[MCP-STDIO] writes nothing but the protocol, and ends with its host", async () => {
    const bare = startBare([], { FORMBRIDGE_LOG_LEVEL: "trace" });
    bare.send(INITIALIZE);
    expect((await bare.answer(1)).result.protocolVersion).toBe("2025-06-18");
    bare.send("this is no JSON");
    bare.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    bare.send({ jsonrpc: "2.0", id: 2, method: "tools/list" });
    expect((await bare.answer(2)).result.tools.length).toBeGreaterThan(0);
    bare.child.stdin.end();
    expect(await bare.ended).toBe(0);
    for (const line of bare.lines()) expect(JSON.parse(line).jsonrpc).toBe("2.0");
  });

  it("[MCP-STDIO] says who it is before it has started; a failed start is reported to whoever asks for more", async () => {
    const bare = startBare([], { FORMBRIDGE_INTAKES: join(folder.path, "nowhere") });
    bare.send(INITIALIZE);
    bare.send({ jsonrpc: "2.0", id: 2, method: "tools/list" });
    expect((await bare.answer(1)).result.serverInfo.name).toBe("formbridge");
    expect((await bare.answer(2)).error).toMatchObject({
      code: -32603,
      message: expect.stringContaining("couldn't start"),
    });
    expect(await bare.ended).toBe(1);
    expect(bare.stderr()).toMatch(/nowhere.*FORMBRIDGE_INTAKES/);
  });

  it("[MCP-STDIO] a start that fails ends, though nobody has asked yet", async () => {
    const bare = startBare([], { FORMBRIDGE_INTAKES: join(folder.path, "nowhere") });
    expect(await bare.ended).toBe(1);
    expect(bare.stderr()).toMatch(/^[^\n]*nowhere[^\n]*\n$/);
  });

  it("[MCP-STDIO] [AUDIT-P8] a message over the limit gets an error, and the process continues", async () => {
    const bare = startBare([], { FORMBRIDGE_MAX_BODY_BYTES: "20000" });
    bare.send(INITIALIZE);
    await bare.answer(1);
    bare.send({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "x".repeat(30_000) } });
    bare.send({ jsonrpc: "2.0", id: 3, method: "ping" });
    expect((await bare.answer(3)).result).toEqual({});
    const refused = bare
      .lines()
      .map((line) => JSON.parse(line))
      .find(({ id }) => id === null);
    expect(refused.error).toMatchObject({ code: -32600, message: expect.stringContaining("20000 bytes") });
    bare.child.stdin.end();
    expect(await bare.ended).toBe(0);
  });

  it("[MCP-LIST-CHANGED] a host behind a bridge is notified of changes", async () => {
    const bare = startBare(["--url", `${server.url}/mcp`], { FORMBRIDGE_MCP_KEY: key });
    bare.send(listen);
    await expect.poll(() => bare.lines().length, { timeout: PATIENCE }).toBeGreaterThan(0);
    await server.putIntake({ id: "later" });
    const told = () => bare.lines().some((line) => line.includes("notifications/tools/list_changed"));
    await expect.poll(told, { timeout: PATIENCE }).toBe(true);
    bare.child.stdin.end();
    expect(await bare.ended).toBe(0);
  });

  const listen = {
    jsonrpc: "2.0",
    id: 7,
    method: "subscriptions/listen",
    params: {
      notifications: { toolsListChanged: true },
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "bare", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
  };
});

describe("formbridge mcp --url", { timeout: 2 * PATIENCE }, () => {
  it("[MCP-BRIDGE] forwards to a server with the key", async () => {
    const host = await startHost(["--url", `${server.url}/mcp`], { FORMBRIDGE_MCP_KEY: key }, "legacy");
    const made = await host.done("formbridge_note_create", { initialFields: { name: "Ada" } });
    expect((await record(server, made.submissionId)).createdBy).toEqual({ kind: "agent", id: "bridged" });
    const { resumeToken } = made;
    await host.refused(
      "formbridge_note_submit",
      { resumeToken: `${resumeToken}x`, idempotencyKey: "k" },
      "token_invalid",
    );
    await host.close();
  });

  it.each([
    ["refuses the key", () => `${server.url}/mcp`],
    ["is not there", () => "http://127.0.0.1:9/mcp"],
  ])("[MCP-BRIDGE] answers when the server %s", async (_what, url) => {
    const wrong = `fbk_${"z".repeat(43)}`;
    const bare = startBare(["--url", url()], { FORMBRIDGE_MCP_KEY: wrong });
    bare.send(INITIALIZE);
    expect((await bare.answer(1)).error.message).toContain("couldn't be reached");
    bare.child.stdin.end();
    expect(await bare.ended).toBe(0);
    expect(bare.stderr() + bare.lines().join("")).not.toContain(wrong);
  });

  it("[MCP-BRIDGE] refuses an invalid URL", async () => {
    const bare = startBare(["--url", "ftp://example.com"]);
    expect(await bare.ended).toBe(1);
    expect(bare.stderr()).toContain("--url");
  });

  it("[MCP-BRIDGE] refuses a URL with a password, and does not print it", async () => {
    const bare = startBare(["--url", "http://ada:hidden@127.0.0.1:9/mcp"]);
    expect(await bare.ended).toBe(1);
    expect(bare.stderr()).toContain("--url");
    expect(bare.stderr()).not.toContain("hidden");
  });
});
