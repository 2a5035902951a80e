import { MergeConflictError, type Submission } from "@formbridge/client";
import * as fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../../test/support/harness.ts";
import { type Network, networkTo } from "./network.ts";

const NAMES = ["a", "b", "c", "d"];
const SCHEMA = {
  type: "object",
  properties: {
    ...Object.fromEntries(NAMES.map((name) => [name, { type: "string" }])),
    place: { type: "object", properties: { city: { type: "string" }, street: { type: "string" } } },
    list: { type: "array", items: { type: "string" } },
    secret: { type: "string", "x-sensitive": true },
  },
};

let server: TestServer;
let network: Network;
beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "shared", schema: SCHEMA as never });
  await server.putIntake({ id: "private", schema: SCHEMA as never, tokens: { discloseCurrent: false } });
});
afterAll(() => server.stop());
beforeEach(() => {
  network = networkTo(server);
});

/** Two programs that hold the same version of one submission. */
async function two(fields: Record<string, unknown> = {}): Promise<[Submission, Submission]> {
  const one = await network.client().create("shared", fields);
  const resumeToken = one.resumeToken ?? "";
  const other = network.client({ actor: { kind: "agent", id: "other" } }).submission({ resumeToken });
  await other.read();
  return [one, other];
}

describe("concurrent writes", () => {
  it("[CLIENT-MERGE] on different fields are both kept", async () => {
    const [one, other] = await two();
    await other.set({ a: "theirs", "place.city": "Paris" });
    await one.set({ b: "mine", "place.street": "Rue" });
    const { fields } = await one.read();
    expect(fields).toEqual({ a: "theirs", b: "mine", place: { city: "Paris", street: "Rue" } });
  });

  it("[CLIENT-MERGE-CONFLICT] on the same field are returned to the caller with both values", async () => {
    const [one, other] = await two({ a: "before" });
    await other.set({ a: "theirs" });
    const failed = one.set({ a: "mine", b: "also mine" });
    await expect(failed).rejects.toBeInstanceOf(MergeConflictError);
    await expect(failed).rejects.toMatchObject({
      conflicts: [{ path: "a", base: "before", mine: "mine", theirs: "theirs" }],
    });
    expect((await other.read()).fields).toEqual({ a: "theirs" });
  });

  it("[CLIENT-MERGE-CONFLICT] a resolver decides field by field", async () => {
    const [one, other] = await two({ a: "", b: "", c: "" });
    await other.set({ a: "theirs", b: "theirs", c: "theirs" });
    const choice = { a: "mine", b: "theirs", c: { value: "third" } } as const;
    await one.set(
      { a: "mine", b: "mine", c: "mine", d: "mine" },
      { resolve: ({ path }) => choice[path as keyof typeof choice] },
    );
    expect((await one.read()).fields).toEqual({ a: "mine", b: "theirs", c: "third", d: "mine" });
  });

  it("[CLIENT-MERGE-CONFLICT] when all of their values are kept, nothing is written", async () => {
    const [one, other] = await two();
    await other.set({ a: "theirs" });
    const answer = await one.set({ a: "mine" }, { resolve: () => "theirs" });
    expect(answer).toMatchObject({ version: 2, fields: { a: "theirs" }, updatedFields: [] });
    await one.set({ b: "mine" });
    expect(one.version).toBe(3);
  });

  it("[CLIENT-MERGE] the same value on both sides is no conflict", async () => {
    const [one, other] = await two();
    await other.set({ a: "same", list: ["x"] });
    await one.set({ a: "same", list: ["x"], b: "mine" });
    expect((await one.read()).fields).toEqual({ a: "same", list: ["x"], b: "mine" });
  });

  it("[CLIENT-MERGE-CONFLICT] a list is one field", async () => {
    const [one, other] = await two({ list: ["x"] });
    await other.set({ list: ["x", "y"] });
    await expect(one.set({ list: ["x", "z"] })).rejects.toMatchObject({ conflicts: [{ path: "list" }] });
  });

  it("[CLIENT-MERGE-TRIES] if a submission keeps changing, the client gives up after three merges", async () => {
    const [one, other] = await two();
    let written = 0;
    network.decide = ({ body }) => {
      const isOurs = (body as { actor?: { id: string } } | undefined)?.actor?.id === "bot";
      if (!isOurs) return "pass";
      return async () => {
        network.decide = undefined;
        await other.set({ b: String(++written) });
        network.decide = decide;
        return await fetchAgain();
      };
    };
    const { decide } = network;
    const fetchAgain = async () => {
      const { method, url, headers, body } = network.sent.findLast(({ body }) => isOurs(body)) ?? fail();
      return await fetch(url, { method, headers, body: JSON.stringify(body) });
    };
    await expect(one.set({ a: "mine" })).rejects.toMatchObject({ type: "token_conflict" });
    expect(written).toBe(4);
    expect((await other.read()).fields).toEqual({ b: "4" });
  });

  it("[CLIENT-MERGE] where the current values are not disclosed, the conflict is returned to the caller", async () => {
    const one = await network.client().create("private");
    const other = network.client().submission({ resumeToken: one.resumeToken ?? "" });
    await other.set({ a: "theirs" });
    await expect(one.set({ b: "mine" })).rejects.toMatchObject({ type: "token_conflict" });
    expect((await other.read()).fields).toEqual({ a: "theirs" });
  });

  it("[CLIENT-MERGE] random writes of two programs on separate fields all arrive", async () => {
    const patchOf = (names: string[]) =>
      fc.array(fc.dictionary(fc.constantFrom(...names), fc.string({ maxLength: 5 }), { minKeys: 1 }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(patchOf(["a", "b"]), patchOf(["c", "d"]), async (mine, theirs) => {
        const [one, other] = await two();
        await Promise.all([
          ...mine.map((patch) => one.set(patch, { mergeTries: 20 })),
          ...theirs.map((patch) => other.set(patch, { mergeTries: 20 })),
        ]);
        const expected = Object.assign({}, ...mine, ...theirs);
        expect((await one.read()).fields).toEqual(expected);
      }),
      { numRuns: process.env.FORMBRIDGE_LONG === undefined ? 15 : 200 },
    );
  });
});

const isOurs = (body: unknown): boolean => (body as { actor?: { id: string } } | undefined)?.actor?.id === "bot";

function fail(): never {
  throw new Error("nothing was sent");
}
