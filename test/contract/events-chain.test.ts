import { createHash } from "node:crypto";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runCommand, tempFolder } from "../support/child.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { created, eventsOf, HUMAN, idempotencyKey, setFields, submit } from "../support/moves.ts";
import { tamper } from "../support/tamper.ts";

let server: TestServer;
let id: string;
const folder = tempFolder();

beforeAll(async () => {
  server = await startTestServer({ store: "sqlite", env: { FORMBRIDGE_DATA: folder.path } });
  await server.putIntake({ id: "forms" });
  const made = await created(server, "forms", {
    body: {
      idempotencyKey: idempotencyKey("chain"),
      initialFields: { name: "Zoë 🎈", note: 'line\nbreak \u2028 "quoted"' },
    },
  });
  id = made.submissionId;
  const human = { ...HUMAN, name: "Ada", metadata: { z: 1, a: { nested: [1.5, null, true] } } };
  const set = await setFields(server, made.resumeToken, { note: "short" }, { body: { actor: human } });
  await server.call("GET", `/resume/${set.body.resumeToken}`);
  await submit(server, set.body.resumeToken, "chain");
  await server.server.core.operations.flushAudit();
});
afterAll(async () => {
  await server.stop();
  folder.remove();
});

const sha256 = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

/** RFC 8785 for the values of a history: sorted keys, no space. Written again here, so that our code doesn't check itself. */
function canonical(value: Loose): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
  return `{${members.join(",")}}`;
}

const streams = ["submission", "token", "idempotency"];
const history = (stream: string): Promise<Loose[]> => eventsOf(server, id, `stream=${stream}&proof=true&limit=1000`);

it.each(streams)("[EVENTS-SEQ] the %s stream counts from 1 without a gap", async (stream) => {
  const events = await history(stream);
  expect(events.length).toBeGreaterThan(1);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
});

it.each(streams)("[EVENTS-CHAIN] every event of the %s stream names the hash before it", async (stream) => {
  const events = await history(stream);
  const before = ["0".repeat(64), ...events.map(({ hash }) => hash)];
  expect(events.map(({ prevHash }) => prevHash)).toEqual(before.slice(0, -1));
});

it.each(streams)("[EVENTS-HASH] every hash of the %s stream can be recomputed", async (stream) => {
  for (const event of await history(stream)) {
    const { eventId, seq, type, submissionId, ts, state, version, prevHash, proof } = event;
    const { actorDigest, payloadDigest } = proof;
    const covered = {
      eventId,
      seq,
      stream,
      type,
      submissionId,
      ts,
      state,
      version,
      actorDigest,
      payloadDigest,
      prevHash,
    };
    expect(event.hash).toBe(sha256(canonical(covered)));
  }
});

it.each(streams)("[EVENTS-DIGESTS] every digest of the %s stream is of salt and value", async (stream) => {
  for (const { actor, payload, proof } of await history(stream)) {
    expect(proof.actorDigest).toBe(sha256(proof.actorSalt + canonical(actor)));
    expect(proof.payloadDigest).toBe(sha256(proof.payloadSalt + canonical(payload)));
    expect(proof.actorSalt).not.toBe(proof.payloadSalt);
  }
});

it("[EVENTS-PROOF] salts and digests are included on request, in every format", async () => {
  expect((await eventsOf(server, id, "stream=all")).every((event) => !("proof" in event))).toBe(true);
  expect((await eventsOf(server, id, "stream=all&proof=false")).every((event) => !("proof" in event))).toBe(true);
  for (const { proof } of await eventsOf(server, id, "stream=all&proof=true")) {
    expect(Object.keys(proof).sort()).toEqual(["actorDigest", "actorSalt", "payloadDigest", "payloadSalt"]);
  }
  const lines = await server.call("GET", `/submissions/${id}/events?proof=true`, {
    key: server.adminKey,
    headers: { accept: "application/x-ndjson" },
  });
  expect(JSON.parse(lines.body.split("\n")[0])).toHaveProperty("proof.actorSalt");
});

it("[EVENTS-ERASABLE] an erased person leaves a chain that verifies", async () => {
  const db = new Database(join(folder.path, "formbridge.db"));
  const nobody = { actor: null, actorSalt: null, payload: null, payloadSalt: null };
  const erased = tamper(db, id, (event) =>
    JSON.stringify(event.actor).includes("ada") ? { ...event, ...nobody } : event,
  );
  db.close();
  expect(erased).toBeGreaterThan(0);
  const verified = await runCommand(["verify", id], { FORMBRIDGE_DATA: folder.path });
  expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining("1 verified") });
  const events = await history("submission");
  expect(events.find(({ actor }) => actor === null)).toMatchObject({ payload: null, proof: { actorSalt: null } });
  expect(JSON.stringify(events)).not.toContain('Ada"');
});
