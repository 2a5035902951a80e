import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { composeCore, readConfig } from "@formbridge/server";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, create, filled, record, setFields, submit } from "../support/submissions.ts";

const data = mkdtempSync(join(tmpdir(), "formbridge-at-rest-"));
const OLD = "the-secret-of-the-first-start-0123456789";
const NEW = "the-secret-that-came-after-it-0123456789";

let server: TestServer;
let key: string;
/** Everything that only its owner may know. */
const secrets: string[] = [];
let submissionId: string;

const start = (secret: string): Promise<TestServer> =>
  startTestServer({
    store: "sqlite",
    env: { FORMBRIDGE_DATA: data, FORMBRIDGE_SECRET: secret, FORMBRIDGE_PUBLIC_URL: "http://127.0.0.1" },
  });

beforeAll(async () => {
  server = await start(OLD);
  await server.putIntake({
    id: "sealed",
    schema: {
      type: "object",
      properties: {
        name: { type: "string" },
        ssn: { type: "string", "x-sensitive": true },
        age: { type: "integer", "x-sensitive": true },
        people: { type: "array", items: { type: "object", properties: { pin: { "x-sensitive": true } } } },
      },
    },
  });
  key = await server.makeKey({ roles: ["agent"], actor: AGENT });
  const made = await create(server, "sealed", { key, fields: { name: "visible-name", ssn: "123-45-6789" } });
  submissionId = made.submissionId;
  const headers = { "idempotency-key": "set-with-a-key-that-is-secret" };
  const fields = { ssn: "987-65-4321", people: [{ pin: "pin-55555" }] };
  const set = await filled(server, made.resumeToken, fields, { key, headers });
  // Invalid values are validated, recorded and reported too.
  const wrong = await filled(server, set.resumeToken, { age: "age-is-no-number" });
  await server.call("POST", `/resume/${wrong.resumeToken}/validate`);
  await submit(server, wrong.resumeToken);
  await setFields(server, made.resumeToken, { ssn: "111-22-3333" });
  secrets.push(made.resumeToken, set.resumeToken, wrong.resumeToken, key, "set-with-a-key-that-is-secret");
  await server.server.core.operations.flushAudit();
});
afterAll(async () => {
  await server.stop();
  rmSync(data, { recursive: true, force: true });
});

it("[TOKENS-AT-REST] the database contains tokens as hashes, and none in clear", async () => {
  const bytes = await server.atRest();
  expect(bytes).toContain("visible-name");
  for (const secret of secrets) expect(bytes.includes(secret), secret).toBe(false);
  expect(bytes).not.toMatch(/rtok_[A-Za-z0-9_-]{43}/);
  for (const token of secrets.slice(0, 3)) {
    expect(bytes).toContain(createHash("sha256").update(token).digest("hex"));
  }
});

it.each(["123-45-6789", "987-65-4321", "111-22-3333", "pin-55555", "age-is-no-number"])(
  "[FIELDS-SENSITIVE-SEALED] the sensitive value %s is nowhere in the database",
  async (value) => {
    expect((await server.atRest()).includes(value)).toBe(false);
  },
);

it("[TOKENS-KEY-ROTATION] a new secret in front of the old one opens what the old one sealed", async () => {
  const before = await record(server, submissionId);
  expect(before.fields.ssn).toBe("987-65-4321");
  await server.stop();
  server = await start(`${NEW},${OLD}`);
  expect(await record(server, submissionId)).toEqual(before);
  const moved = await filled(server, before.resumeToken, { name: "moved" });
  await server.stop();
  await expect(start(NEW)).rejects.toThrow(/sealed with a secret that this server doesn't have/);
  const env = { FORMBRIDGE_DATA: data, FORMBRIDGE_SECRET: NEW };
  await (await composeCore(readConfig(env), { retiresSecrets: { losing: true } })).backend.close();
  server = await start(NEW);
  const after = await record(server, submissionId);
  expect(after).toMatchObject({ resumeToken: moved.resumeToken, fields: { ssn: "987-65-4321", name: "moved" } });
});
