import { ERROR_TYPES, type ErrorType } from "@formbridge/contract";
import { afterAll, beforeAll, expect, it } from "vitest";
import { NEXT_ACTIONS, type NextActionName } from "../../packages/contract/src/errors.ts";
import { type CallOptions, type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, create, expectError, expectNoToken, filled, HOUR, submit } from "../support/submissions.ts";
import { FILES_SCHEMA } from "../support/uploads.ts";

let server: TestServer;
let creator: string;
let viewer: string;

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "open", tokens: { ttlMs: HOUR } });
  await server.putIntake({ id: "files", schema: FILES_SCHEMA });
  await server.putIntake({ id: "gated", approvalGates: [{ name: "check", reviewers: { ids: ["rosa"] } }] });
  await server.putIntake({ id: "sent", destination: { kind: "webhook", url: "https://receiver.invalid/hook" } });
  const schema = { type: "object", properties: { name: { type: "string" }, ok: { "x-fill": "human" } } };
  await server.putIntake({ id: "signed", schema });
  const paper = { "x-file": { accept: ["text/plain"], maxBytes: 10 } };
  await server.putIntake({ id: "needs-file", schema: { type: "object", properties: { paper }, required: ["paper"] } });
  await server.putIntake({ id: "short", ttlMs: HOUR });
  creator = await server.makeKey({ roles: ["agent"], actor: AGENT });
  viewer = await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "vera" } });
});
afterAll(() => server.stop());

interface Row {
  name: string;
  type: ErrorType;
  status: number;
  intake?: string;
  /** Whose key is used; by default the creator's. */
  by?: "viewer" | "admin";
  /** Brings the submission into the state in which the call is refused. */
  prepare?: (made: Loose) => Promise<unknown>;
  call: (made: Loose) => [method: string, suffix: string, options: CallOptions];
  /** Does the response include the current token? */
  token: boolean;
  action: NextActionName;
}

const set = (body: Loose = {}): [string, string, CallOptions] => [
  "PATCH",
  "/fields",
  { body: { fields: { name: "x" }, ...body } },
];
const submitted = (made: Loose) => submit(server, made.resumeToken);
const cancelled = (made: Loose) => server.call("DELETE", `/resume/${made.resumeToken}`);
const announce = ({ resumeToken }: Loose) =>
  server.call("POST", `/resume/${resumeToken}/uploads`, {
    body: { actor: AGENT, field: "paper", filename: "a.txt", mimeType: "text/plain", sizeBytes: 1 },
  });
const underKey = async ({ resumeToken }: Loose) =>
  await filled(server, resumeToken, { name: "Ada" }, { headers: { "idempotency-key": resumeToken } });

/** Add a row for every refusal that can concern a submission. Versions: created at 1, one more for each write. */
const ROWS: Row[] = [
  {
    name: "no version",
    type: "token_required",
    status: 428,
    call: () => set(),
    token: true,
    action: "fetch_current_state",
  },
  {
    name: "stale",
    type: "token_conflict",
    status: 409,
    call: () => set({ version: 7 }),
    token: true,
    action: "fetch_current_state",
  },
  {
    name: "a reader writes",
    type: "forbidden",
    status: 403,
    by: "viewer",
    call: () => set({ version: 1 }),
    token: false,
    action: "request_handoff",
  },
  {
    name: "another's name",
    type: "forbidden",
    status: 403,
    call: () => set({ version: 1, actor: { kind: "human", id: "eve" } }),
    token: true,
    action: "collect_field",
  },
  {
    name: "an admin's work, while it is open",
    type: "forbidden",
    status: 403,
    call: () => ["PATCH", "/destination", { body: { destination: { kind: "webhook", url: "https://x.invalid" } } }],
    token: true,
    action: "fetch_current_state",
  },
  {
    name: "an admin's work, under review",
    type: "forbidden",
    status: 403,
    intake: "gated",
    prepare: submitted,
    call: () => ["POST", "/review/reassign", { body: { reviewers: { ids: ["otto"] }, reason: "on leave" } }],
    token: true,
    action: "wait_for_review",
  },
  {
    name: "a reviewer's work",
    type: "forbidden",
    status: 403,
    intake: "gated",
    prepare: submitted,
    call: () => ["POST", "/review", { body: { decision: "approved" } }],
    token: true,
    action: "wait_for_review",
  },
  {
    name: "another gate's admin",
    type: "forbidden",
    status: 403,
    intake: "gated",
    by: "admin",
    prepare: submitted,
    call: () => ["POST", "/review", { body: { decision: "approved" } }],
    token: true,
    action: "wait_for_review",
  },
  {
    name: "a hand-off that was somebody else's",
    type: "forbidden",
    status: 403,
    call: () => ["POST", "/handoffs/hof_x/complete", { body: {} }],
    token: true,
    action: "fetch_current_state",
  },
  {
    name: "erasing what has ended",
    type: "forbidden",
    status: 403,
    by: "viewer",
    prepare: cancelled,
    call: () => ["POST", "/erase", { body: {} }],
    token: false,
    action: "fetch_current_state",
  },
  {
    name: "a reader reissues",
    type: "forbidden",
    status: 403,
    by: "viewer",
    call: () => ["POST", "/tokens/reissue", { body: {} }],
    token: false,
    action: "fetch_current_state",
  },
  {
    name: "a reader's hand-offs",
    type: "forbidden",
    status: 403,
    by: "viewer",
    call: () => ["GET", "/handoffs", {}],
    token: false,
    action: "request_handoff",
  },
  {
    name: "no such upload",
    type: "not_found",
    status: 404,
    intake: "files",
    call: () => ["POST", "/uploads/upl_x/confirm", { body: { version: 1 } }],
    token: true,
    action: "request_upload",
  },
  {
    name: "no file field",
    type: "invalid",
    status: 422,
    intake: "files",
    call: () => [
      "POST",
      "/uploads",
      { body: { version: 1, field: "name", filename: "a", mimeType: "text/plain", sizeBytes: 1 } },
    ],
    token: true,
    action: "request_upload",
  },
  {
    name: "unknown event",
    type: "bad_request",
    status: 400,
    call: () => ["GET", "/events?afterEventId=evt_x", {}],
    token: true,
    action: "fetch_current_state",
  },
  {
    name: "not ready",
    type: "missing",
    status: 422,
    call: () => ["POST", "/submit", { body: { version: 1, idempotencyKey: crypto.randomUUID() } }],
    token: true,
    action: "collect_field",
  },
  {
    name: "a file is announced and has not arrived",
    type: "upload_pending",
    status: 422,
    intake: "needs-file",
    prepare: announce,
    call: () => ["POST", "/submit", { body: { version: 2, idempotencyKey: crypto.randomUUID() } }],
    token: true,
    action: "request_upload",
  },
  {
    name: "the time is over",
    type: "expired",
    status: 410,
    intake: "short",
    prepare: async () => server.clock.advance(2 * HOUR),
    call: () => set({ version: 1 }),
    token: false,
    action: "create_new_submission",
  },
  {
    name: "a human's field",
    type: "invalid",
    status: 422,
    intake: "signed",
    call: () => set({ version: 1, fields: { ok: true } }),
    token: true,
    action: "request_handoff",
  },
  {
    name: "a used key",
    type: "conflict",
    status: 409,
    prepare: underKey,
    call: ({ resumeToken }) => [
      "PATCH",
      "/fields",
      { headers: { "idempotency-key": resumeToken }, body: { fields: { name: "Eve" }, version: 2 } },
    ],
    token: true,
    action: "collect_field",
  },
  {
    name: "under review",
    type: "needs_approval",
    status: 409,
    intake: "gated",
    prepare: submitted,
    call: () => set({ version: 2 }),
    token: true,
    action: "wait_for_review",
  },
  {
    name: "on its way",
    type: "conflict",
    status: 409,
    intake: "sent",
    prepare: submitted,
    call: () => set({ version: 2 }),
    token: true,
    action: "fetch_current_state",
  },
  {
    name: "finalized",
    type: "token_expired",
    status: 410,
    prepare: submitted,
    call: () => set({ version: 2 }),
    token: false,
    action: "create_new_submission",
  },
  {
    name: "cancelled",
    type: "cancelled",
    status: 410,
    prepare: cancelled,
    call: () => set({ version: 2 }),
    token: false,
    action: "create_new_submission",
  },
];

it.each(ROWS)("[AUDIT-F22] $type ($name) has state, version, token and what to do", async (row) => {
  const isSubmitted = row.prepare === submitted;
  const made = await create(server, row.intake ?? "open", {
    key: creator,
    ...(isSubmitted && { fields: { name: "Ada" } }),
  });
  await row.prepare?.(made);
  const path = `/submissions/${made.submissionId}`;
  const [method, suffix, options] = row.call(made);
  const reply: Reply = await server.call(method, path + suffix, {
    ...options,
    key: { viewer, admin: server.adminKey, creator }[row.by ?? "creator"],
  });
  const error = expectError(reply, row.status, row.type);
  const now = (await server.call("GET", path, { key: creator })).body;
  expect(reply.body).toMatchObject({ submissionId: made.submissionId, state: now.state, version: now.version });
  expect(reply.headers["x-submission-version"]).toBe(String(now.version));
  if (row.token) {
    const { resumeToken, resumeUrl, tokenExpiresAt } = now;
    expect(reply.body).toMatchObject({ resumeToken, resumeUrl, tokenExpiresAt });
  } else expectNoToken(reply);
  const actions = error.nextActions.map(({ action }: Loose) => action);
  expect(actions).toContain(row.action);
  for (const action of actions) expect(Object.keys(NEXT_ACTIONS)).toContain(action);
  // A locked or ended submission can't be handed over.
  if (row.prepare !== undefined) expect(actions).not.toContain("request_handoff");
});

/** Refusals that can't concern a known submission, or have their own tests. */
const ELSEWHERE: readonly ErrorType[] = [
  "token_invalid",
  "unauthorized",
  "method_not_allowed",
  "payload_too_large",
  "unsupported_media_type",
  "headers_too_large",
  "range_not_satisfiable",
  "rate_limited",
  "locked",
  "service_unavailable",
  "internal_error",
  "delivery_failed",
];

it("[AUDIT-F22] every type of refusal has a row, or a reason to have none", () => {
  const told = new Set([...ROWS.map(({ type }) => type), ...ELSEWHERE]);
  expect(Object.keys(ERROR_TYPES).filter((type) => !told.has(type as ErrorType))).toEqual([]);
});

it.each([
  ["malformed", 400, "rtok_short"],
  ["unknown", 404, `rtok_${"x".repeat(43)}`],
])("[AUDIT-F22] a token that is %s gets what to do, and no submission", async (_name, status, token) => {
  const reply = await server.call("PATCH", `/resume/${token}`, { body: { actor: AGENT, fields: {} } });
  expect(expectError(reply, status, "token_invalid").nextActions[0].action).toBe("fetch_current_state");
  expect(reply.body).not.toHaveProperty("submissionId");
});
