import { afterAll, beforeAll, expect, it } from "vitest";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { created, read, submit, until } from "../support/moves.ts";
import { createScriptedCourier, type ScriptedCourier } from "../support/scripted-courier.ts";

let server: TestServer;
let courier: ScriptedCourier;
let intakes = 0;

beforeAll(async () => {
  courier = createScriptedCourier();
  server = await startTestServer({
    courier,
    env: { FORMBRIDGE_JOB_POLL_MS: "10", FORMBRIDGE_DELIVERY_WAIT_MS: "250" },
  });
});
afterAll(() => server.stop());

async function delivered(rest: Loose = {}): Promise<string> {
  intakes += 1;
  const id = `answered-${intakes}`;
  const destination = { kind: "webhook" as const, url: "https://receiver.invalid/hook" };
  expect((await server.putIntake({ id, destination, ...rest })).status).toBe(201);
  return id;
}

const filled = (intakeId: string): Promise<Loose> =>
  created(server, intakeId, { body: { initialFields: { name: "Ada" } } });
const finalized = (id: string): Promise<Loose> =>
  until(async () => {
    const { body } = await read(server, id, server.adminKey);
    return body.state === "finalized" ? body : undefined;
  });
const essence = ({ status, body }: Reply) => ({ status, ...body, _idempotent: undefined });
const WAIT = { headers: { prefer: "respond-async, wait=20" } };

it("[DELIVERY-WAIT] a submit reports a delivery that ends while it waits", async () => {
  const made = await filled(await delivered());
  const { status, body } = await submit(server, made.resumeToken, "submit-waits", WAIT);
  expect([status, body.state, body.version]).toEqual([200, "finalized", 3]);
  expect(body.finalizedAt).toBeDefined();
  const now = await read(server, made.submissionId, server.adminKey);
  expect([now.body.resumeToken, now.body.version]).toEqual([body.resumeToken, 3]);
});

it("[DELIVERY-WAIT] a submit does not wait beyond its time, nor beyond the first failure", async () => {
  const intake = await delivered();
  courier.next(intake, "hold", { kind: "failed", error: "502" });
  const slow = await filled(intake);
  expect((await submit(server, slow.resumeToken, "submit-slow")).body.state).toBe("submitted");
  const failing = await filled(intake);
  expect((await submit(server, failing.resumeToken, "submit-fails", WAIT)).body.state).toBe("submitted");
  courier.release();
  await finalized(slow.submissionId);
});

it("[DELIVERY-WAIT] the last approval waits for the delivery too", async () => {
  const intake = await delivered({ approvalGates: [{ name: "legal", reviewers: { ids: ["rosa"] } }] });
  const rosa = await server.makeKey({ roles: ["reviewer"], actor: { kind: "human", id: "rosa" } });
  const made = await filled(intake);
  expect((await submit(server, made.resumeToken, "submit-gated", WAIT)).body.state).toBe("needs_review");
  const approve = { key: rosa, body: { decision: "approved" }, headers: WAIT.headers };
  const { status, body } = await server.call("POST", `/submissions/${made.submissionId}/review`, approve);
  expect([status, body.state, body.reviewedBy.id]).toEqual([200, "finalized", "rosa"]);
  expect(body.resumeToken).toBeUndefined();
});

it("[DELIVERY-WAIT-RECORDED] the caller and concurrent retries get one response", async () => {
  const intake = await delivered();
  courier.next(intake, "hold");
  const { resumeToken } = await filled(intake);
  const calls = Array.from({ length: 5 }, () => submit(server, resumeToken, "submit-together", WAIT));
  await until(() => courier.held() > 0);
  courier.release();
  const replies = await Promise.all([...calls, submit(server, resumeToken, "submit-together", WAIT)]);
  expect(new Set(replies.map((reply) => JSON.stringify(essence(reply)))).size).toBe(1);
  expect(replies.map(({ body }) => body.state)).toEqual(Array(6).fill("finalized"));
  expect(replies.filter(({ body }) => body._idempotent === false)).toHaveLength(1);
});

it.each([
  ["revoke", false],
  ["revoke, then reissue", true],
])("[DELIVERY-WAIT-RECORDED] a submit that waits returns no token after a %s", async (_case, isReissued) => {
  const intake = await delivered();
  courier.next(intake, "hold");
  const { resumeToken, submissionId } = await filled(intake);
  const waiting = submit(server, resumeToken, `submit-revoked-${isReissued}`, WAIT);
  await until(() => courier.held() > 0);
  server.clock.advance(1);
  for (const step of ["revoke", ...(isReissued ? ["reissue"] : [])]) {
    const done = await server.call("POST", `/submissions/${submissionId}/tokens/${step}`, {
      key: server.adminKey,
      body: {},
    });
    expect(done.status).toBe(200);
  }
  courier.release();
  const { status, body, headers } = await waiting;
  expect([status, body.state]).toEqual([200, "finalized"]);
  expect([body.resumeToken, body.tokenExpiresAt, headers["x-resume-token"]]).toEqual(Array(3).fill(undefined));
});

it("[DELIVERY-WAIT-RECORDED] a response of submitted stays so, whenever the delivery ends", async () => {
  const intake = await delivered();
  courier.next(intake, "hold");
  const { resumeToken, submissionId } = await filled(intake);
  const first = await submit(server, resumeToken, "submit-stays");
  expect(first.body.state).toBe("submitted");
  // By the store's clock, the caller's waiting time is over now.
  server.clock.advance(250);
  courier.release();
  await finalized(submissionId);
  const again = await submit(server, resumeToken, "submit-stays");
  expect(essence(again)).toEqual(essence(first));
});

it("[DELIVERY-WAIT-RECORDED] a delivery that failed at first is reported as submitted, even if the second attempt succeeds in time", async () => {
  const retryPolicy = { initialDelayMs: 1, maxDelayMs: 1, jitter: false };
  const destination = { kind: "webhook", url: "https://receiver.invalid/hook", retryPolicy };
  const intake = await delivered({ destination });
  courier.next(intake, { kind: "failed", error: "502" });
  const { resumeToken, submissionId } = await filled(intake);
  const first = await submit(server, resumeToken, "submit-second", WAIT);
  expect(first.body.state).toBe("submitted");
  server.clock.advance(1);
  await finalized(submissionId);
  expect(essence(await submit(server, resumeToken, "submit-second", WAIT))).toEqual(essence(first));
});
