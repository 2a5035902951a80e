import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { visit } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { followActions, type HttpJourney, type HttpTrail } from "../support/hint-agent.ts";
import { BAGS, type Bag } from "../support/known-values.ts";
import { ROOT } from "../support/pages.ts";
import { createScriptedCourier } from "../support/scripted-courier.ts";
import { HOUR, record } from "../support/submissions.ts";

const FOLDER = join(ROOT, "examples/intakes");
const EXAMPLES: Loose[] = readdirSync(FOLDER).map((name) => JSON.parse(readFileSync(join(FOLDER, name), "utf8")));
const MOST_STEPS = 10;

const courier = createScriptedCourier();
let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await startTestServer({ courier, env: { FORMBRIDGE_TOKEN_TTL_MS: String(HOUR) } });
  key = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "bot" } });
  const { id: _id, ...contact } = EXAMPLES.find(({ id }) => id === "contact");
  const destination = { kind: "webhook", url: "https://receiver.example/", retryPolicy: { maxAttempts: 1 } };
  await server.putIntake({ ...contact, id: "contact-sent", destination });
});
afterAll(() => server.stop());

/** A person who opens the link and fills in the human-only fields. */
async function fillByHand(handoff: Loose, { byHuman = {} }: Bag): Promise<void> {
  const visitor = await visit(server, handoff, { kind: "human", id: "grace" });
  const { version } = await record(server, handoff.submissionId);
  expect((await visitor.fill(byHuman, version)).status).toBe(200);
}

function journey(intakeId: string, more: Partial<HttpJourney> = {}): Promise<HttpTrail> {
  const bag = BAGS[intakeId] ?? BAGS.contact;
  if (bag === undefined) throw new Error(`nothing is known for ${intakeId}`);
  return followActions({ server, key, intakeId, bag, human: (handoff) => fillByHand(handoff, bag), ...more });
}

it.each(EXAMPLES.map(({ id }) => id))(
  "[AUDIT-F22] an agent that only follows next actions fills in %s",
  async (intakeId) => {
    const trail = await journey(intakeId);
    expect(trail.last.state).toMatch(/finalized|needs_review/);
    expect(trail.done.length, trail.done.join(" ")).toBeLessThanOrEqual(MOST_STEPS);
    if (BAGS[intakeId]?.files !== undefined) expect(trail.done).toContain("request_upload");
    if (BAGS[intakeId]?.byHuman !== undefined) expect(trail.done).toContain("request_handoff");
  },
);

it("[AUDIT-F22] it gets through a conflict", async () => {
  const intrude = async ({ submissionId }: HttpTrail): Promise<void> => {
    const { version } = await record(server, submissionId);
    await server.call("PATCH", `/submissions/${submissionId}/fields`, {
      key: server.adminKey,
      headers: { "if-match": `"${version}"` },
      body: { fields: { topic: "press" } },
    });
  };
  const trail = await journey("contact", { meanwhile: { 1: intrude } });
  expect(trail.met).toContain("token_conflict");
  expect(trail.last.state).toBe("finalized");
  expect((await record(server, trail.submissionId)).fields).toMatchObject({ topic: "press", name: "Ada Lovelace" });
});

it("[AUDIT-F13] [AUDIT-F22] it gets through a delivery that failed", async () => {
  courier.next("contact-sent", { kind: "failed", error: "The receiver is down.", final: true });
  const trail = await journey("contact-sent");
  expect(trail.met).toContain("delivery_failed");
  expect(trail.done).toContain("retry_delivery");
  expect(trail.last.state).toBe("finalized");
});

it("[AUDIT-F1] [AUDIT-F22] it gets through a token that has lapsed", async () => {
  const trail = await journey("contact", { meanwhile: { 1: () => server.clock.advance(2 * HOUR) } });
  expect(trail.met).toContain("token_expired");
  expect(trail.done).toContain("reissue_token");
  expect(trail.last.state).toBe("finalized");
});
