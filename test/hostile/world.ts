import type { IntakeDefinition } from "@formbridge/contract";
import { startTestServer, type TestServer } from "../support/harness.ts";

/** A submission that nobody may change: every call aimed at it must be refused. */
export interface Sentinel {
  tenant: string;
  adminKey: string;
  submissionId: string;
  intakeId: string;
  state: string;
  /** Absent when the tokens were revoked. */
  token?: string;
  /** Tokens that were valid once: rotated, revoked, or of an ended submission. */
  oldTokens: string[];
}

/** A submission that valid and hostile calls may both change. */
export interface Toy {
  submissionId: string;
  intakeId: string;
  token: string;
  version: number;
  /** As in the last response. */
  state?: string;
}

export interface Tenant {
  name: string;
  admin: string;
  agent: string;
  otherAgent: string;
  viewer: string;
  reviewer: string;
  outsideReviewer: string;
  limited: string;
  publicIntake: string;
  gatedIntake: string;
  hookIntake: string;
}

export interface World {
  test: TestServer;
  port: number;
  own: Tenant;
  foreign: Tenant;
  deadKeys: string[];
  sentinels: Sentinel[];
  sentinelIntakes: { id: string; adminKey: string }[];
  toys: Toy[];
  /** Page tokens of the lists of the own tenant, by list. */
  pageTokens: { list: string; token: string }[];
  /** Keys that may be revoked, webhooks and intakes that may be changed. */
  spareKeyIds: string[];
  spareWebhookIds: string[];
  spareIntakes: string[];
  /** Incidents that the cases raised, and blocks that they made. */
  incidentIds: string[];
  spareBlockIds: string[];
  /** Hand-offs of toys, and sessions that were opened through them. */
  links: Link[];
  visits: { submissionId: string; session: string }[];
}

export interface Link {
  submissionId: string;
  handoffId: string;
  session: string;
}

const EDITABLE = ["draft", "in_progress", "awaiting_input", "rejected"];
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const SCHEMA: IntakeDefinition["schema"] = {
  type: "object",
  properties: {
    name: { type: "string", maxLength: 200 },
    email: { type: "string", format: "email" },
    amount: { type: "number", minimum: 0 },
    topic: { enum: ["billing", "other"] },
    note: { type: ["string", "null"] },
    secret: { type: "string", "x-sensitive": true },
    consent: { type: "boolean", "x-fill": "human" },
    code: { type: "string", pattern: "^[A-Z]{3}-[0-9]{4}$" },
    address: { type: "object", properties: { city: { type: "string" }, zip: { type: "string" } }, required: ["city"] },
    items: {
      type: "array",
      items: { type: "object", properties: { sku: { type: "string" }, count: { type: "integer" } } },
    },
    "dotted.name": { type: "string" },
    document: { type: "object", "x-file": { accept: ["application/pdf"], maxBytes: 1000 } },
  },
  required: ["name"],
  if: { properties: { topic: { const: "billing" } }, required: ["topic"] },
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word
  then: { required: ["amount"] },
};

const GATES = [{ name: "check", reviewers: { ids: ["rita"] } }];

export async function createWorld(): Promise<World> {
  const test = await startTestServer({ env: { FORMBRIDGE_SWEEP_INTERVAL_MS: "600000" } });
  const own = await createTenant(test, "default", test.adminKey);
  const foreignAdmin = await test.makeKey({
    roles: ["admin"],
    actor: { kind: "human", id: "boss" },
    tenant: "foreign",
  });
  const foreign = await createTenant(test, "foreign", foreignAdmin);
  const sentinels = [...(await createSentinels(test, own)), ...(await createSentinels(test, foreign))];
  const intakes = [own, foreign].flatMap((tenant) =>
    [tenant.publicIntake, tenant.gatedIntake, tenant.hookIntake].map((id) => ({ id, adminKey: tenant.admin })),
  );
  const world: World = {
    test,
    port: Number(new URL(test.url).port),
    own,
    foreign,
    deadKeys: await createDeadKeys(test),
    sentinels,
    sentinelIntakes: intakes,
    toys: [],
    pageTokens: [],
    spareKeyIds: [],
    spareWebhookIds: [],
    spareIntakes: ["fz-a", "fz-b", "fz_c"],
    incidentIds: [],
    spareBlockIds: [],
    links: [],
    visits: [],
  };
  for (const intakeId of [own.publicIntake, own.gatedIntake, own.hookIntake]) {
    for (let count = 0; count < 12; count++) world.toys.push(await createToy(test, { intakeId, key: own.agent }));
  }
  for (const list of ["/submissions", "/intakes", "/keys", "/events"]) {
    const { body } = await test.call("GET", `${list}?limit=1`, { key: own.admin });
    world.pageTokens.push({ list, token: body.nextPageToken as string });
  }
  // After the grace period in which a rotated token still reads, and after the expiry of those that expire.
  test.clock.advance(5 * MINUTE);
  for (const { submissionId, adminKey: key } of sentinels)
    await test.call("GET", `/submissions/${submissionId}`, { key });
  return world;
}

async function createTenant(test: TestServer, name: string, admin: string): Promise<Tenant> {
  const mark = name === "default" ? "hx" : "hy";
  const tenant = { tenant: name };
  const intake = { schema: SCHEMA, access: "key" as const };
  const [publicIntake, gatedIntake, hookIntake] = [`${mark}-open`, `${mark}-gated`, `${mark}-hook`];
  await must(test.putIntake({ id: publicIntake, ...intake, access: "public" }, admin));
  await must(test.putIntake({ id: gatedIntake, ...intake, approvalGates: GATES }, admin));
  const hook = { kind: "webhook" as const, url: "https://hooks.invalid/in", secret: "whsec_hidden" };
  await must(
    test.putIntake({ id: hookIntake, ...intake, destination: hook, tokens: { discloseCurrent: false } }, admin),
  );
  return {
    name,
    admin,
    agent: await test.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "anna" }, ...tenant }),
    otherAgent: await test.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "otto" }, ...tenant }),
    viewer: await test.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "vera" }, ...tenant }),
    reviewer: await test.makeKey({ roles: ["reviewer"], actor: { kind: "human", id: "rita" }, ...tenant }),
    outsideReviewer: await test.makeKey({ roles: ["reviewer"], actor: { kind: "human", id: "rolf" }, ...tenant }),
    limited: await test.makeKey({
      roles: ["agent"],
      actor: { kind: "agent", id: "anna" },
      intakes: ["fz-a"],
      ...tenant,
    }),
    publicIntake,
    gatedIntake,
    hookIntake,
  };
}

async function must(reply: Promise<{ status: number; body: unknown }>): Promise<void> {
  const { status, body } = await reply;
  if (status >= 300) throw new Error(`the world could not be made: ${status} ${JSON.stringify(body)}`);
}

export async function createToy(
  test: TestServer,
  where: { intakeId: string; key: string; ttlMs?: number },
): Promise<Toy> {
  const { intakeId, key, ...request } = where;
  const { status, body } = await test.call("POST", `/intakes/${intakeId}/submissions`, { key, body: request });
  if (status !== 201) throw new Error(`no submission: ${status} ${JSON.stringify(body)}`);
  return { submissionId: body.submissionId, intakeId, token: body.resumeToken, version: body.version };
}

async function createDeadKeys(test: TestServer): Promise<string[]> {
  const actor = { kind: "human" as const, id: "gone" };
  const revoked = await test.call("POST", "/keys", {
    key: test.adminKey,
    body: { name: "revoked", roles: ["admin"], actor },
  });
  await must(test.call("DELETE", `/keys/${revoked.body.keyId}`, { key: test.adminKey }));
  const expiresAt = new Date(test.clock.now() + 1000).toISOString();
  const expired = await test.call("POST", "/keys", {
    key: test.adminKey,
    body: { name: "over", roles: ["admin"], actor, expiresAt },
  });
  return [revoked.body.key, expired.body.key, `fbk_${"z".repeat(43)}`];
}

/** One of every state that a call can cause here, each with invalid tokens. */
async function createSentinels(test: TestServer, tenant: Tenant): Promise<Sentinel[]> {
  const made: Sentinel[] = [];
  const create = async (intakeId: string, body: object = {}, state = "draft"): Promise<Sentinel> => {
    const toy = await createToy(test, { intakeId, key: tenant.agent, ttlMs: state === "expired" ? MINUTE : 365 * DAY });
    const sentinel: Sentinel = {
      tenant: tenant.name,
      adminKey: tenant.admin,
      submissionId: toy.submissionId,
      intakeId,
      state,
      token: toy.token,
      oldTokens: [],
    };
    made.push(sentinel);
    if (Object.keys(body).length > 0) await act(sentinel, "PATCH", "/fields", body);
    return sentinel;
  };
  const act = async (at: Sentinel, method: string, suffix: string, body: object, key?: string): Promise<void> => {
    const headers = { ...(key === undefined && at.token !== undefined && { "if-match": `"${at.token}"` }) };
    const reply = await test.call(method, `/submissions/${at.submissionId}${suffix}`, {
      body,
      headers,
      key: key ?? tenant.agent,
    });
    if (reply.status >= 300) throw new Error(`${method} ${suffix}: ${reply.status} ${JSON.stringify(reply.body)}`);
    const { body: now } = await test.call("GET", `/submissions/${at.submissionId}`, { key: tenant.admin });
    at.state = now.state;
    if (now.resumeToken === at.token) return;
    if (at.token !== undefined) at.oldTokens.push(at.token);
    delete at.token;
    if (now.resumeToken !== undefined) at.token = now.resumeToken;
  };
  const fields = {
    fields: { name: "Ada", secret: "sealed", address: { city: "Paris" }, items: [{ sku: "a", count: 1 }] },
  };
  const submit = { idempotencyKey: "sentinel-submit" };
  await create(tenant.publicIntake);
  await create(tenant.publicIntake, fields);
  const waiting = await create(tenant.gatedIntake, { fields: { email: "ada@example.com" } });
  await act(waiting, "POST", "/validate", {});
  const inReview = await create(tenant.gatedIntake, fields);
  await act(inReview, "POST", "/submit", { ...submit, idempotencyKey: "s1" });
  const rejected = await create(tenant.gatedIntake, fields);
  await act(rejected, "POST", "/submit", { ...submit, idempotencyKey: "s2" });
  await act(rejected, "POST", "/review", { decision: "rejected", reasons: ["no"] }, tenant.reviewer);
  const locked = await create(tenant.hookIntake, fields);
  await act(locked, "POST", "/submit", { ...submit, idempotencyKey: "s3" });
  const finalized = await create(tenant.publicIntake, fields);
  await act(finalized, "POST", "/submit", { ...submit, idempotencyKey: "s4" });
  const cancelled = await create(tenant.publicIntake, fields);
  await act(cancelled, "DELETE", "", { reason: "over" });
  const revoked = await create(tenant.hookIntake, fields);
  await act(revoked, "POST", "/tokens/revoke", { reason: "leaked" }, tenant.admin);
  const quiet = await create(tenant.hookIntake, fields);
  await act(quiet, "PATCH", "/fields", { fields: { note: "second" } });
  for (const open of made.filter((one) => one.token !== undefined && EDITABLE.includes(one.state))) {
    await act(open, "POST", "/handoffs", { kind: "session" });
  }
  const expired = await create(tenant.publicIntake, {}, "expired");
  expired.oldTokens.push(expired.token ?? "");
  delete expired.token;
  return made;
}
