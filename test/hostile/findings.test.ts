import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createConnection } from "./wire.ts";
import { createWorld, type World } from "./world.ts";

/** Earlier findings of hostile cases, each in its smallest form, so that they stay fixed. */
let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.test.stop());

const INHERITED = ["constructor", "toString", "__proto__", "hasOwnProperty", "submission.created,valueOf"];

describe("earlier findings", () => {
  test("a key can't expire at a time that does not exist, and so live forever", async () => {
    for (const expiresAt of ["2026-12-31T23:59:60Z", "9999-12-31T23:59:59-23:59"]) {
      const body = { name: "x", roles: ["viewer"], actor: { kind: "agent", id: "x" }, expiresAt };
      expect((await world.test.call("POST", "/keys", { key: world.own.admin, body })).status, expiresAt).toBe(400);
    }
  });

  test("a list from a time that does not exist is refused", async () => {
    for (const list of ["/submissions", "/events"]) {
      for (const name of ["from", "until"]) {
        const path = `${list}?${name}=2026-12-31T23:59:60Z`;
        expect((await world.test.call("GET", path, { key: world.own.admin })).status, path).toBe(400);
      }
    }
  });

  test.each(INHERITED)("%s is not an event type", async (types) => {
    for (const path of [`/submissions/${world.toys[0]?.submissionId}/events`, "/events"]) {
      expect((await world.test.call("GET", `${path}?types=${types}`, { key: world.own.admin })).status).toBe(400);
    }
  });

  test("a reference of any length is looked up and not found", async () => {
    for (const length of [1000, 1025, 5000]) {
      const { status } = await world.test.call("GET", `/submissions/${"a".repeat(length)}`, { key: world.own.admin });
      expect([400, 404]).toContain(status);
    }
  });

  test("refused live streams leave no listener on their connection", async () => {
    const warnings: string[] = [];
    const hear = (warning: Error): number => warnings.push(warning.message);
    process.on("warning", hear);
    const connection = createConnection(world.port);
    const headers = [
      ["Host", "x"],
      ["Accept", "text/event-stream"],
      ["Authorization", `Bearer ${world.own.admin}`],
    ] as const;
    for (let count = 0; count < 30; count++)
      await connection.send({ method: "GET", path: "/submissions/nope/events", headers });
    await new Promise((resolve) => setImmediate(resolve));
    connection.close();
    process.off("warning", hear);
    expect(warnings).toEqual([]);
  });

  test.each<[string, Record<string, string>, number]>([
    ["a token that is none", { "if-match": '"garbage"' }, 400],
    ["a version that was not seen", { "if-match": '"999"' }, 409],
    ["a version that is none", { "x-intake-version": "x" }, 400],
    ["a version that is not current", { "x-intake-version": "999" }, 409],
  ])("a review on %s decides nothing", async (_, headers, status) => {
    const waiting = world.sentinels.find(({ tenant, state }) => tenant === "default" && state === "needs_review");
    const path = `/submissions/${waiting?.submissionId}`;
    const body = { decision: "approved" };
    const reply = await world.test.call("POST", `${path}/review`, { key: world.own.reviewer, headers, body });
    expect(reply.status).toBe(status);
    expect((await world.test.call("GET", path, { key: world.own.admin })).body.state).toBe("needs_review");
  });
});
