/** A day in the life of a server, short and eventful: everything that a metric counts happens at least once. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Sqlite from "better-sqlite3";
import { Client as Database } from "pg";
import { expect } from "vitest";
import type { ServerProcess } from "../support/child.ts";
import type { Loose } from "../support/harness.ts";
import { rpcRequest } from "../support/mcp.ts";
import { idempotencyKey, until } from "../support/moves.ts";
import type { OwnPostgres } from "../support/services/own-postgres.ts";
import type { OwnRedis } from "../support/services/redis.ts";
import { openStream } from "../support/sse.ts";
import { send } from "../support/uploads.ts";

export const ADMIN_KEY = `fbk_${"day".repeat(14)}x`;
const admin = { authorization: `Bearer ${ADMIN_KEY}` };
const AGENT = { kind: "agent", id: "bot" };
const HUMAN = { kind: "human", id: "ada" };
const PDF = Buffer.from("%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< >>\n%%EOF\n");

export interface Receiver {
  url: string;
  stop(): Promise<void>;
}

/** Accepts requests to `/taken` and refuses all others. */
export async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(request.url === "/taken" ? 204 : 400).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => new Promise((resolve) => void server.close(() => resolve()).closeAllConnections()),
  };
}

export interface World {
  server: ServerProcess;
  /** What can be broken, if the server uses it. */
  stores?: { postgres: OwnPostgres; redis: OwnRedis };
  receiver: Receiver;
  /** Waits until Prometheus has seen this. */
  seen(metric: string): Promise<void>;
  isSeen(metric: string): Promise<boolean>;
}

type Options = { body?: unknown; headers?: Record<string, string> };

export function createDay({ server, stores, receiver, seen, isSeen }: World) {
  async function call(method: string, path: string, { body, headers = {} }: Options = {}) {
    const response = await fetch(server.url + path, {
      method,
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: (text.startsWith("{") ? JSON.parse(text) : {}) as Loose };
  }

  async function putIntake(id: string, more: Loose = {}): Promise<void> {
    const definition = {
      id,
      version: "1",
      name: id,
      access: "public",
      schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      destination: { kind: "store" },
      ...more,
    };
    const { status } = await call("PUT", `/intakes/${id}`, { headers: admin, body: definition });
    expect(status).toBe(201);
  }

  const create = async (intakeId: string, more: Loose = {}, headers: Record<string, string> = {}): Promise<Loose> =>
    (await call("POST", `/intakes/${intakeId}/submissions`, { body: { actor: AGENT, ...more }, headers })).body;
  const keyed = (name: string): Record<string, string> => ({ "idempotency-key": idempotencyKey(`day-${name}`) });
  const patch = (token: string, actor: Loose, fields: Loose, headers: Record<string, string> = {}) =>
    call("PATCH", `/resume/${token}/fields`, { body: { actor, fields }, headers });
  const submit = (token: string, name: string) =>
    call("POST", `/resume/${token}/submit`, { body: { actor: AGENT }, headers: keyed(name) });

  function breakable(): NonNullable<World["stores"]> {
    if (stores === undefined) throw new Error("there is nothing to break");
    return stores;
  }

  /** Holds a table until it is released. */
  async function hold(table: string): Promise<() => Promise<void>> {
    const holder = new Database({ connectionString: breakable().postgres.url });
    holder.on("error", () => {});
    await holder.connect();
    await holder.query(`BEGIN; LOCK TABLE formbridge.${table}`);
    return async () => {
      await holder.query("ROLLBACK");
      await holder.end();
    };
  }

  return {
    async intakes(): Promise<void> {
      const taken = { kind: "webhook", url: `${receiver.url}/taken` };
      await putIntake("plain");
      await putIntake("short", { ttlMs: 1_000 });
      await putIntake("brief-token", { tokens: { ttlMs: 1_000 } });
      await putIntake("sent", { destination: taken });
      const refused = { kind: "webhook", url: `${receiver.url}/refused`, retryPolicy: { maxAttempts: 1 } };
      await putIntake("refused", { destination: refused });
      await putIntake("gated", { approvalGates: [{ name: "check", reviewers: { roles: ["admin"] } }] });
      await putIntake("filed", {
        schema: {
          type: "object",
          properties: { pdf: { "x-file": { accept: ["application/pdf"], maxBytes: 10_000 } } },
        },
      });
      const { status } = await call("POST", "/webhooks", { headers: admin, body: { url: `${receiver.url}/taken` } });
      expect(status).toBe(201);
    },

    /** Submissions that are filled in together, with a conflict, alone, and abandoned. */
    async submissions(): Promise<void> {
      await create("short");
      await create("brief-token");
      const shared = await create("plain");
      await call("GET", `/resume/${shared.resumeToken}`);
      const byHuman = await patch(shared.resumeToken, HUMAN, { name: "Ada" });
      await patch(shared.resumeToken, AGENT, { name: "late" });
      const back = await patch(byHuman.body.resumeToken, AGENT, { name: "Bot" });
      expect((await submit(back.body.resumeToken, "shared")).status).toBe(200);
      const alone = await create("plain", { initialFields: { name: "x" } });
      expect((await submit(alone.resumeToken, "alone")).status).toBe(200);
    },

    /** Idempotency keys that are replayed, in conflict, retried, and expired. */
    async keys(): Promise<void> {
      const first = await create("plain", {}, keyed("create"));
      expect((await create("plain", {}, keyed("create"))).submissionId).toBe(first.submissionId);
      for (let tries = 0; tries < 7; tries++) await create("plain", { initialFields: { name: "y" } }, keyed("create"));
      await create("plain", {}, { ...keyed("brief"), "x-idempotency-ttl": "1" });
    },

    /** Repeats earlier faults after a scrape has seen them: a rate needs two scrapes. */
    async relapses(): Promise<void> {
      const { resumeToken } = await create("plain");
      await patch(resumeToken, AGENT, { name: "first" });
      for (const metric of ["formbridge_token_conflict_count_total", "formbridge_idempotency_request_replayed_total"])
        await seen(metric);
      await seen('formbridge_token_expired_count_total{reason="ttl"}');
      // One conflict more than `submission_conflicts` tolerates.
      for (let tries = 0; tries < 11; tries++) {
        await patch(resumeToken, AGENT, { name: "late" });
        await create("plain", {}, keyed("create"));
      }
      await create("short");
    },

    async deliveries(): Promise<void> {
      for (const intake of ["sent", "refused", "gated"]) {
        const { resumeToken } = await create(intake, { initialFields: { name: "x" } });
        await submit(resumeToken, intake);
      }
    },

    async uploads(): Promise<void> {
      let { resumeToken: token } = await create("filed");
      const announce = async (sizeBytes: number): Promise<Loose> => {
        const file = { field: "pdf", filename: "a.pdf", mimeType: "application/pdf", sizeBytes };
        const { body } = await call("POST", `/resume/${token}/uploads`, { body: { actor: AGENT, ...file } });
        token = body.resumeToken;
        return body;
      };
      await announce(PDF.length);
      const { uploadId, ...signed } = await announce(PDF.length);
      expect((await send(signed, PDF)).status).toBeLessThan(300);
      const { status } = await call("POST", `/resume/${token}/uploads/${uploadId}/confirm`, { body: { actor: AGENT } });
      expect(status).toBe(200);
    },

    /** Tool calls, a live stream, and somebody who guesses tokens. */
    async callers(): Promise<void> {
      const { headers, body } = rpcRequest("tools/call", { name: "formbridge_list_intakes", arguments: {} });
      expect((await call("POST", "/mcp", { headers: { ...headers, ...admin }, body })).status).toBe(200);
      const { submissionId } = await create("plain");
      const stream = await openStream(`${server.url}/submissions/${submissionId}/events`, admin);
      await seen("formbridge_sse_watchers");
      await stream.close();
      for (let guess = 0; guess < 15; guess++) await call("GET", `/resume/rtok_${"x".repeat(43)}`);
    },

    /** Another program holds the table of submissions: look-ups wait, and give up. */
    async slowDatabase(): Promise<void> {
      const { resumeToken } = await create("plain");
      const release = await hold("submissions IN ACCESS EXCLUSIVE MODE");
      const waited = await Promise.all([1, 2, 3, 4, 5, 6].map(() => call("GET", `/resume/${resumeToken}`)));
      expect(new Set(waited.map(({ status }) => status))).toEqual(new Set([503]));
      await seen("formbridge_token_validation_timeout_total");
      await call("GET", `/resume/${resumeToken}`);
      await release();
    },

    /** Redis loses its data, and so a request loses the lock that it holds. */
    async forgetfulRedis(): Promise<void> {
      const release = await hold("records IN EXCLUSIVE MODE");
      const held = create("plain", {}, keyed("held"));
      await seen("formbridge_idempotency_lock_age_seconds");
      const waiting = create("plain", {}, keyed("held"));
      await seen("formbridge_idempotency_lock_timeout_total");
      await breakable().redis.restart();
      await seen("formbridge_idempotency_lock_abandoned_total");
      await release();
      await Promise.all([held, waiting]);
    },

    /** Another program writes to the embedded database and doesn't finish. */
    async lockedFile(file: string): Promise<void> {
      const { resumeToken } = await create("plain");
      const other = new Sqlite(file);
      other.exec("BEGIN IMMEDIATE");
      await until(async () => {
        const names = ["held", "held", "held", "down-1", "down-2", "down-3", "down-4"];
        await Promise.all([
          patch(resumeToken, AGENT, { name: "in vain" }),
          ...names.map((name) => create("plain", {}, keyed(name))),
        ]);
        return (await isSeen("formbridge_idempotency_circuit_breaker_rejected_requests_total")) || undefined;
      }, 40_000);
      await patch(resumeToken, AGENT, { name: "in vain" });
      other.exec("ROLLBACK");
      other.close();
      await until(async () => (await create("plain", {}, keyed("back"))).ok === true || undefined, 30_000);
    },

    async brokenDatabase(): Promise<void> {
      const { postgres } = breakable();
      await postgres.crash();
      await until(async () => {
        await create("plain", {}, keyed("down"));
        return (await call("GET", "/readyz")).status === 503 || undefined;
      });
      await seen("formbridge_idempotency_circuit_breaker_state");
      for (let tries = 0; tries < 6; tries++) await create("plain", {}, keyed("down"));
      await seen("formbridge_idempotency_circuit_breaker_rejected_requests_total");
      await postgres.start();
      await until(async () => (await create("plain", {}, keyed("back"))).ok === true || undefined, 30_000);
    },
  };
}
