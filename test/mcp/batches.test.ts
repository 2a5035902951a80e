import { afterAll, beforeAll, expect, it } from "vitest";
import type { Loose, TestServer } from "../support/harness.ts";
import { emptyServer } from "./scene.ts";

let server: TestServer;
beforeAll(async () => {
  server = await emptyServer({ FORMBRIDGE_RATE_LIMIT: "on" });
  await server.putIntake({ id: "note" });
});
afterAll(() => server.stop());

const HEADERS = { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-03-26" };

const guess = (id: number) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "formbridge_get_submission", arguments: { resumeToken: `rtok_${String(id).padStart(43, "x")}` } },
});

const guesses = (from: number, count: number) => Array.from({ length: count }, (_, n) => guess(from + n));

function messagesIn(body: unknown): Loose[] {
  if (typeof body !== "string") return [body].flat();
  return [...body.matchAll(/^data: (.+)$/gm)].flatMap(([, data = ""]) => JSON.parse(data));
}

it("[AUDIT-P9] every call of a batch counts against the limit of failed lookups, also of concurrent batches", async () => {
  const batches = Array.from({ length: 20 }, (_, n) => guesses(n * 20, 20));
  const replies = await Promise.all(batches.map((body) => server.call("POST", "/mcp", { headers: HEADERS, body })));
  const answers = replies.flatMap(({ body }) => messagesIn(body));
  expect(answers).toHaveLength(400);
  const types = answers.map(({ result }) => result.structuredContent.error.type);
  expect(types.filter((type) => type === "token_invalid")).toHaveLength(10);
  expect(types.filter((type) => type === "rate_limited")).toHaveLength(390);
});

it("[AUDIT-P9] a batch of 400 is refused as a whole", async () => {
  const { status, body } = await server.call("POST", "/mcp", { headers: HEADERS, body: guesses(1_000, 400) });
  expect({ status, code: body.error.code }).toEqual({ status: 400, code: -32600 });
});
