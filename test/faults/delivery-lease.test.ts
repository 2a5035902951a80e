import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { startServerProcess, tempFolder } from "../support/child.ts";
import { caller, minimalIntake } from "../support/harness.ts";
import { create, submit, until } from "../support/moves.ts";
import { ADMIN_KEY } from "./ledger-check.ts";

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo();
});

/** Accepts requests, and answers none of them before it is asked to. */
async function startReceiver() {
  const receiver = { requests: 0, answers: false };
  const server = createServer((_request, response) => {
    receiver.requests += 1;
    if (receiver.answers) response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanUp.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(receiver, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
}

/** Much longer than the test may take. */
const LEASE_MS = "600000";

test("[AUDIT-F38] killed in the middle of an attempt and started again, a single process delivers at once", async () => {
  const folder = tempFolder();
  cleanUp.push(folder.remove);
  const receiver = await startReceiver();
  const env = {
    FORMBRIDGE_DATA: folder.path,
    FORMBRIDGE_INTAKES: folder.path,
    FORMBRIDGE_ADMIN_KEY: ADMIN_KEY,
    FORMBRIDGE_RATE_LIMIT: "off",
    FORMBRIDGE_LOG_LEVEL: "error",
    FORMBRIDGE_ALLOW_PRIVATE_TARGETS: "1",
    FORMBRIDGE_JOB_LEASE_MS: LEASE_MS,
    FORMBRIDGE_WORKER: "on",
  };
  const first = await startServerProcess(env);
  const destination = { kind: "webhook", url: receiver.url };
  const call = caller(first.url);
  const put = await call("PUT", "/intakes/held", {
    key: ADMIN_KEY,
    body: { ...minimalIntake("held"), destination },
  });
  expect(put.status).toBe(201);
  const api = { adminKey: ADMIN_KEY, call };
  const { body } = await create(api, "held", { body: { initialFields: { name: "Ada" } } });
  await submit(api, body.resumeToken, "submit-held", { headers: { prefer: "wait=0" } });
  await until(() => receiver.requests > 0 || undefined);
  await first.kill();
  receiver.answers = true;
  const next = await startServerProcess(env);
  cleanUp.push(() => next.stop());
  const record = await until(async () => {
    const reply = await caller(next.url)("GET", `/submissions/${body.submissionId}`, { key: ADMIN_KEY });
    return reply.body.state === "finalized" ? reply.body : undefined;
  }, 20_000);
  expect(record.deliveryState.attemptCount).toBe(2);
});
