import { expect } from "vitest";
import { handOff, type Mailbox, visit } from "../../../test/support/handoffs.ts";
import type { Loose, Reply, TestServer } from "../../../test/support/harness.ts";
import {
  created,
  eventsOf,
  everything,
  HUMAN,
  idempotencyKey,
  setFields,
  submit,
} from "../../../test/support/moves.ts";

/** What a caller got from the old server. */
export interface Held {
  open: Loose;
  set: Reply;
  empty: Loose;
  failed: Reply;
  pageToken: string;
  everything: unknown;
  histories: Map<string, Loose[]>;
  viewer: string;
  revoked: string;
  handed: Loose;
  session: string;
  reviewLink: string;
}
export const keys = { create: idempotencyKey("copied-create"), set: "copied-set-fields", failed: "copied-failed" };

const REVIEWER = "kim@example.com";

/** Runs the jobs that send mail and returns the link in one of them; other jobs stay queued. */
async function linkMailed({ server }: TestServer, post: Mailbox): Promise<string> {
  const { backend, operations } = server.core;
  const claimed = await backend.jobs.claim({ limit: 100, leaseMs: 1, perLane: 100, busy: new Map() });
  for (const job of claimed.filter(({ kind }) => kind === "notify"))
    await operations.notify(job, new AbortController().signal);
  return post.reviewLink(REVIEWER);
}

/** Creates everything of every kind that a store can hold. */
export async function fill(server: TestServer, post: Mailbox): Promise<Held> {
  const schema = {
    type: "object",
    properties: { name: { type: "string" }, iban: { type: "string", "x-sensitive": true } },
    required: ["name"],
  };
  await server.putIntake({ id: "forms", schema });
  await server.putIntake({ id: "forms", schema, version: "2", name: "Forms, again" });
  await server.putIntake({ id: "delivered", destination: { kind: "webhook", url: "https://example.com/hook" } });
  const gate = { name: "legal", reviewers: { roles: ["legal"] }, requiredApprovals: 1, escalateAfterMs: 3_600_000 };
  await server.putIntake({ id: "gated", approvalGates: [gate] });
  const hook = { url: "https://example.com/events", types: ["submission.created"] };
  expect((await server.call("POST", "/webhooks", { key: server.adminKey, body: hook })).status).toBe(201);
  await server.putIntake({ id: "mailed", approvalGates: [{ name: "legal", reviewers: { emails: [REVIEWER] } }] });
  await server.putIntake({ id: "published", oai: { set: true, dc: { title: "name" } } });
  await server.putIntake({ id: "retired" });
  const block = {
    address: "192.0.2.1",
    endsAt: new Date((await server.server.core.backend.deadlines.now()) + 86_400_000).toISOString(),
  };
  expect((await server.call("POST", "/blocks", { key: server.adminKey, body: block })).status).toBe(201);
  for (let call = 0; call < 51; call++) await server.call("GET", `/resume/rtok_${String(call).padStart(43, "A")}`);
  await server.server.core.operations.flushAudit();
  await server.call("DELETE", "/intakes/retired", { key: server.adminKey });
  const tenant = await server.makeKey({ roles: ["admin"], actor: { kind: "human", id: "boss" }, tenant: "acme" });
  await server.putIntake({ id: "acme-forms" }, tenant);
  await created(server, "acme-forms", { key: tenant });
  const viewer = await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "viewer\u0000" } });
  const revoked = await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "gone" } });
  const list = await server.call("GET", "/keys?limit=1000", { key: server.adminKey });
  await server.call("DELETE", `/keys/${list.body.items.at(-1).keyId}`, { key: server.adminKey });

  const body = { idempotencyKey: keys.create, initialFields: { name: "Ada\u0000", iban: "DE00 1234" } };
  const open = await created(server, "forms", { body, headers: {} });
  const set = await setFields(server, open.resumeToken, { name: "Ada" }, { body: { idempotencyKey: keys.set } });
  const empty = await created(server, "forms");
  const failed = await submit(server, empty.resumeToken, keys.failed);
  for (const intake of ["delivered", "gated", "mailed", "forms", "published"]) {
    const made = await created(server, intake, { body: { initialFields: { name: "Bob" } } });
    expect((await submit(server, made.resumeToken, `s-${intake}`)).status).toBe(200);
  }
  for (let count = 0; count < 5; count++) await created(server, "forms");
  const erased = await created(server, "forms", { body: { initialFields: { name: "Eve", iban: "DE00 5678" } } });
  await server.call("DELETE", `/resume/${erased.resumeToken}`);
  const erasing = { key: server.adminKey, body: {} };
  expect((await server.call("POST", `/submissions/${erased.submissionId}/erase`, erasing)).status).toBe(200);
  const handed = await created(server, "forms");
  const { session } = await visit(server, await handOff(server, handed.resumeToken), HUMAN);
  const reviewLink = await linkMailed(server, post);
  const page = await server.call("GET", "/events?stream=all&limit=5", { key: server.adminKey });
  const submissions = await server.call("GET", "/submissions?limit=1000", { key: server.adminKey });
  const histories = new Map<string, Loose[]>();
  for (const { submissionId } of submissions.body.items) {
    histories.set(submissionId, await eventsOf(server, submissionId, "stream=all&proof=true&limit=1000"));
  }
  await server.server.core.operations.flushAudit();
  const { nextPageToken: pageToken } = page.body;
  const held = { open, set, empty, failed, pageToken, histories, viewer, revoked, session, handed, reviewLink };
  return { ...held, everything: await everything(server) };
}
