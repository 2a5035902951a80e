/** The responses of both floors: the same length and shape as ours, without any rules. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import Fastify from "fastify";

export type Fields = Record<string, unknown>;

export interface NewSubmission {
  submissionId: string;
  tokenHash: string;
  now: string;
  actor: unknown;
  fields: Fields;
}

export interface FieldsPatch {
  tokenHash: string;
  nextTokenHash: string;
  now: string;
  actor: unknown;
  fields: Fields;
}

export interface Found {
  submissionId: string;
  version: number;
  updatedAt: string;
  fields: Fields;
}

/** The rows that any server with resumable submissions must write. Each call is as durable as ours when it resolves. */
export interface FloorStore {
  insert(submission: NewSubmission): Promise<void>;
  update(patch: FieldsPatch): Promise<Pick<Found, "submissionId" | "version" | "fields"> | undefined>;
  find(tokenHash: string): Promise<Found | undefined>;
  close(): Promise<void>;
}

const { schema } = JSON.parse(readFileSync(new URL("../intakes/supplier.json", import.meta.url), "utf8"));

const newToken = (): string => `rtok_${randomBytes(32).toString("base64url")}`;
const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Constants that make the responses as long as ours. */
const FINDINGS = {
  missingFields: ["email"],
  validationErrors: [
    { path: "email", code: "required", message: "email is required", expected: "string", received: null },
  ],
};
const NO_FINDINGS = { missingFields: [], validationErrors: [] };
const ACTOR = { kind: "agent", id: "bench-agent" };
const FILLED = ["company", "contact", "country", "address.street", "address.city", "address.postcode", "categories"];

type ByToken = { Params: { token: string } };

/** Serves a floor until it is asked to stop, and prints its URL. */
export async function serveFloor(store: FloorStore): Promise<void> {
  const app = Fastify();

  app.post<{ Body: { actor: unknown; initialFields: Fields } }>("/intakes/:id/submissions", async (request, reply) => {
    const { actor, initialFields: fields } = request.body;
    const submissionId = `sub_${randomUUID()}`;
    const token = newToken();
    const now = new Date().toISOString();
    await store.insert({ submissionId, tokenHash: hashOf(token), now, actor, fields });
    const marks = { ok: true, submissionId, state: "in_progress", version: 1, resumeToken: token, tokenExpiresAt: now };
    const rest = { expiresAt: now, replayCount: 0, originalTimestamp: now };
    return reply.code(201).send({ ...marks, intakeId: "supplier", schema, fields, ...FINDINGS, ...rest });
  });

  app.patch<ByToken & { Body: { actor: unknown; fields: Fields } }>("/resume/:token/fields", async (request, reply) => {
    const { actor, fields: patch } = request.body;
    const token = newToken();
    const now = new Date().toISOString();
    const tokenHash = hashOf(request.params.token);
    const updated = await store.update({ tokenHash, nextTokenHash: hashOf(token), now, actor, fields: patch });
    if (updated === undefined) return reply.code(404).send({ ok: false });
    const { submissionId, version, fields } = updated;
    const marks = { ok: true, submissionId, state: "in_progress", version, resumeToken: token, tokenExpiresAt: now };
    return { ...marks, fields, updatedFields: Object.keys(patch), ...NO_FINDINGS, updatedAt: now };
  });

  app.get<ByToken>("/resume/:token", async (request, reply) => {
    const found = await store.find(hashOf(request.params.token));
    if (found === undefined) return reply.code(404).send({ ok: false });
    return recordOf(found, request.params.token);
  });

  process.on("SIGTERM", () => {
    app.close().then(async () => {
      await store.close();
      process.exit(0);
    });
  });
  process.stdout.write(`listening on ${await app.listen({ host: "127.0.0.1", port: 0 })}\n`);
}

function recordOf({ submissionId, version, updatedAt, fields }: Found, resumeToken: string) {
  const attribution: Record<string, unknown> = {};
  for (const path of [...FILLED, "email", "employees", "notes"]) {
    attribution[path] = { actor: ACTOR, at: updatedAt, version };
  }
  return {
    ok: true,
    submissionId,
    state: "in_progress",
    version,
    resumeToken,
    tokenExpiresAt: updatedAt,
    intakeId: "supplier",
    intakeVersion: "1.0.0",
    fields,
    schema,
    attribution,
    ...NO_FINDINGS,
    createdAt: updatedAt,
    updatedAt,
    originalTimestamp: updatedAt,
    expiresAt: updatedAt,
    createdBy: ACTOR,
    lastUpdatedBy: ACTOR,
    replayCount: 0,
    ttl: { expiresAt: updatedAt, remainingMs: 604_800_000 },
  };
}
