import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { visit } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { BAGS } from "../support/known-values.ts";
import { connectHost, type Host } from "../support/mcp.ts";
import { ROOT } from "../support/pages.ts";
import { createScriptedCourier } from "../support/scripted-courier.ts";
import { HOUR, record } from "../support/submissions.ts";
import { followHints, type Journey, type Trail } from "./hint-agent.ts";

const FOLDER = join(ROOT, "examples/intakes");
const EXAMPLES: Loose[] = readdirSync(FOLDER).map((name) => JSON.parse(readFileSync(join(FOLDER, name), "utf8")));

const courier = createScriptedCourier();
let server: TestServer;
let host: Host;
beforeAll(async () => {
  server = await startTestServer({ courier, env: { FORMBRIDGE_TOKEN_TTL_MS: String(HOUR) } });
  const key = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "hints" } });
  host = await connectHost(server.url, { key });
  const { id: _id, ...contact } = EXAMPLES.find(({ id }) => id === "contact");
  const destination = { kind: "webhook", url: "https://receiver.example/", retryPolicy: { maxAttempts: 1 } };
  await server.putIntake({ ...contact, id: "contact-sent", name: "Contact by webhook", destination });
});
afterAll(async () => {
  await host.close();
  await server.stop();
});

/** A person who opens the link and fills in the human-only fields. */
const human =
  (intakeId: string): Journey["human"] =>
  async (handoff) => {
    const visitor = await visit(server, handoff, { kind: "human", id: "grace" });
    const { version } = await record(server, handoff.submissionId);
    const filled = await visitor.fill(BAGS[intakeId]?.byHuman ?? {}, version);
    expect(filled.status).toBe(200);
  };

const bagOf = (intakeId: string) => {
  const bag = BAGS[intakeId];
  if (bag === undefined) throw new Error(`nothing is known for ${intakeId}`);
  return bag;
};

const MOST_CALLS = 10;
/** The states in which gates leave a submission; others are finalized at once. */
const REVIEWED = ["expense-report", "it-access-request", "vendor-onboarding"];

it.each(EXAMPLES.map(({ id, name }) => [id, name]))(
  "[AUDIT-P3] an agent that only follows hints fills in %s",
  async (intakeId, intake) => {
    const trail = await followHints({ host, intake, bag: bagOf(intakeId), human: human(intakeId) });
    expect(trail.last.state).toMatch(REVIEWED.includes(intakeId) ? /needs_review|finalized/ : /finalized/);
    expect(trail.called.length, trail.called.join(" ")).toBeLessThanOrEqual(MOST_CALLS);
    if (bagOf(intakeId).files !== undefined) expect(trail.called).toContain("formbridge_confirm_upload");
    if (bagOf(intakeId).byHuman !== undefined) expect(trail.called).toContain("formbridge_handoff");
  },
);

it("[AUDIT-P3] it gets through a conflict, and sees what others wrote", async () => {
  const intrude = async ({ submissionId }: Trail): Promise<void> => {
    const { version } = await record(server, submissionId);
    const reply = await server.call("PATCH", `/submissions/${submissionId}/fields`, {
      key: server.adminKey,
      headers: { "if-match": `"${version}"` },
      body: { fields: { topic: "press" } },
    });
    expect(reply.status).toBe(200);
  };
  const meanwhile = { 2: intrude, 4: intrude };
  const trail = await followHints({
    host,
    intake: "Contact us",
    bag: bagOf("contact"),
    human: human("contact"),
    meanwhile,
  });
  expect(trail.met).toContain("token_conflict");
  expect(trail.last.state).toBe("finalized");
  expect((await record(server, trail.submissionId)).fields).toMatchObject({ topic: "press", name: "Ada Lovelace" });
  expect(trail.called.length).toBeLessThanOrEqual(MOST_CALLS);
});

it("[AUDIT-F1] [AUDIT-P3] it gets through a token that has lapsed", async () => {
  const meanwhile = { 2: () => server.clock.advance(2 * HOUR) };
  const trail = await followHints({
    host,
    intake: "Contact us",
    bag: bagOf("contact"),
    human: human("contact"),
    meanwhile,
  });
  expect(trail.met).toContain("token_expired");
  expect(trail.last.state).toBe("finalized");
  expect(trail.called.length).toBeLessThanOrEqual(MOST_CALLS);
});

it("[AUDIT-P3] it gets through a delivery that failed", async () => {
  courier.next("contact-sent", { kind: "failed", error: "The receiver is down.", final: true });
  const journey = { host, intake: "Contact by webhook", bag: bagOf("contact"), human: human("contact") };
  const trail = await followHints(journey);
  expect(trail.called).toContain("formbridge_retry_delivery");
  expect(trail.last.state).toBe("finalized");
  expect(trail.called.length).toBeLessThanOrEqual(MOST_CALLS);
});
