import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { runCommand, type ServerProcess, startServerProcess, tempFolder } from "../../../test/support/child.ts";
import { caller } from "../../../test/support/harness.ts";
import { startMcpProcess } from "../../../test/support/mcp-process.ts";

// Each command is a process that loads everything: a second on a quiet machine, several on a busy one.
vi.setConfig({ testTimeout: 120_000 });

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function settings(): { env: Record<string, string>; file: string } {
  const folder = tempFolder();
  closers.push(folder.remove);
  const env = { FORMBRIDGE_DATA: folder.path, FORMBRIDGE_LOG_LEVEL: "silent", FORMBRIDGE_RATE_LIMIT: "off" };
  return { env, file: join(folder.path, "formbridge.db") };
}

async function serving(env: Record<string, string>): Promise<ServerProcess> {
  const server = await startServerProcess(env);
  closers.push(() => server.kill());
  return server;
}

test("[AUDIT-F7] a second server on the file is refused with an explanation until the first has ended, even by kill -9", async () => {
  const { env, file } = settings();
  const first = await serving(env);
  const refused = await runCommand(["serve"], env);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain(`Another process, at ${first.url}, already uses ${file}.`);
  expect(refused.stderr).toContain("Stop that one");
  expect((await fetch(`${first.url}/readyz`)).status).toBe(200);

  await first.kill();
  const second = await serving(env);
  const { code } = await second.stop();
  expect(code).toBe(0);
  expect(existsSync(`${file}.server`)).toBe(false);
  await (await serving(env)).stop();
});

test("[AUDIT-F7] commands run beside the server, and its next response includes what they wrote", async () => {
  const { env, file } = settings();
  const server = await serving(env);
  const call = caller(server.url);
  expect(statSync(`${file}.server`).mode & 0o077).toBe(0);
  for (const command of [["migrate"], ["doctor"], ["verify", "--all"]]) {
    expect(await runCommand(command, env), command.join(" ")).toMatchObject({ code: 0 });
  }
  for (let round = 0; round < 2; round++) {
    const made = await runCommand(
      ["keys", "create", "--name", "Beside", "--role", "admin", "--actor", "human:ann"],
      env,
    );
    const [key = ""] = /fbk_\S+/.exec(made.stdout) ?? [];
    const keys = await call("GET", "/keys", { key });
    expect(keys.status).toBe(200);
    const own = keys.body.items.find(({ name }: { name: string }) => name === "Beside");
    await runCommand(["keys", "revoke", own.keyId], env);
    expect((await call("GET", "/keys", { key })).status).toBe(401);
  }
});

test("[AUDIT-F7] formbridge mcp on a served folder connects to that server, as the agent of this machine", async () => {
  const { env } = settings();
  const server = await serving(env);
  const host = await startMcpProcess(env);
  closers.push(host.stop);
  const { submissionId } = await host.create("contact", { name: "Ada" });
  expect(host.stderr()).toContain(`Joined the server at ${server.url}`);
  // The server itself sees it at once.
  const admin = /Admin key, shown only this once: (\S+)/.exec(server.stdout())?.[1] ?? "";
  const read = await caller(server.url)("GET", `/submissions/${submissionId}`, { key: admin });
  expect(read.body).toMatchObject({ createdBy: { kind: "agent", id: "local-agent" }, fields: { name: "Ada" } });
});

test("[AUDIT-F7] of two hosts on one folder, the second connects to the first", async () => {
  const { env } = settings();
  const first = await startMcpProcess(env);
  closers.push(first.stop);
  await first.create("contact", {});
  const second = await startMcpProcess(env);
  closers.push(second.stop);
  const { submissionId } = await second.create("contact", { name: "Ada" });
  expect(first.stderr()).not.toContain("Joined");
  expect(second.stderr()).toContain("Joined the server at http://127.0.0.1:");
  expect((await first.status("contact", submissionId)).fields).toEqual({ name: "Ada" });
});

test("[AUDIT-F7] a server without MCP can't be joined, and the command explains that", async () => {
  const { env } = settings();
  await serving({ ...env, FORMBRIDGE_MCP: "off" });
  const refused = await runCommand(["mcp"], env);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain("FORMBRIDGE_MCP=on");
});

test("[AUDIT-F7] an address left behind by a killed server is not trusted", async () => {
  const { env, file } = settings();
  const server = await serving(env);
  const left = readFileSync(`${file}.server`);
  await server.kill();
  writeFileSync(`${file}.server`, left);
  chmodSync(`${file}.server`, 0o600);
  const host = await startMcpProcess(env);
  closers.push(host.stop);
  await host.create("contact", { name: "Ada" });
  expect(host.stderr()).not.toContain("Joined");
});
