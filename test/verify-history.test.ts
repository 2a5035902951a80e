import { expect, test } from "vitest";
import { firstProblem } from "../examples/verify-history.ts";
import type { IntakeEvent } from "../packages/contract/src/events.ts";
import { minimalIntake, startTestServer } from "./support/harness.ts";

async function history(): Promise<IntakeEvent[]> {
  const server = await startTestServer({ store: "memory" });
  try {
    await server.putIntake(minimalIntake("plain"));
    const actor = { kind: "human", id: "ada" };
    const created = await server.call("POST", "/intakes/plain/submissions", {
      body: { actor, initialFields: { name: "Zoë ☂" } },
    });
    const { submissionId, resumeToken } = created.body;
    await server.call("PATCH", `/resume/${resumeToken}`, {
      body: { actor, fields: { note: "a\nb", "address.city": 1.5 } },
    });
    const { body } = await server.call("GET", `/submissions/${submissionId}/events?stream=all&proof=true`, {
      key: server.adminKey,
    });
    return body.events;
  } finally {
    await server.stop();
  }
}

test("the example accepts a history, also with erased values, and names the first event that was altered or left out", async () => {
  const events = await history();
  const altered = (seq: number, change: Partial<IntakeEvent>): IntakeEvent[] =>
    events.map((event) => (event.stream === "submission" && event.seq === seq ? { ...event, ...change } : event));
  expect(events.length).toBeGreaterThan(4);
  expect(firstProblem(events)).toBeUndefined();
  expect(firstProblem(altered(2, { version: 9 }))).toBe("submission event 2 was altered");
  expect(firstProblem(altered(2, { ts: "2030-01-01T00:00:00.000Z" }))).toBe("submission event 2 was altered");
  expect(firstProblem(altered(3, { actor: { kind: "human", id: "eve" } }))).toBe(
    "submission event 3 has another actor",
  );
  expect(firstProblem(altered(3, { payload: { fields: {} } }))).toBe("submission event 3 has another payload");
  expect(firstProblem(events.filter(({ stream, seq }) => stream !== "submission" || seq !== 2))).toBe(
    "submission event 3 does not follow the one before it",
  );
  const erased = events.map((event) => ({
    ...event,
    actor: null,
    payload: null,
    ...(event.proof && { proof: { ...event.proof, actorSalt: null, payloadSalt: null } }),
  }));
  expect(firstProblem(erased)).toBeUndefined();
  const unsalted = erased.map((event, index) => ({ ...event, actor: events[index]?.actor ?? null }));
  expect(firstProblem(unsalted)).toMatch(/event 1 has another actor$/);
});
