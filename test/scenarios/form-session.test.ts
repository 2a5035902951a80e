import type { Submission } from "@formbridge/client";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fate, type Network, networkTo } from "../../packages/client/test/network.ts";
import { FormSession } from "../../packages/form/src/session/form-session.ts";
import { memoryStorage } from "../../packages/form/test/memory-storage.ts";
import { startTestServer, type TestServer } from "../support/harness.ts";

const text = { type: "string" };
const SCHEMA = {
  type: "object",
  properties: {
    a: text,
    place: { type: "object", properties: { city: text, zip: text } },
    list: { type: "array", items: text },
    shared: text,
    secret: { type: "string", "x-sensitive": true },
    staff: { type: "string", "x-fill": "agent" },
  },
  additionalProperties: false,
};

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ fakeClock: false });
  await server.putIntake({ id: "together", schema: SCHEMA as never });
});
afterAll(() => server.stop());

const later = (ms: number, callback: () => void) => {
  const timer = setTimeout(callback, Math.min(ms, 5));
  return () => clearTimeout(timer);
};

/** An agent, and a person in a session behind a network of their own. */
async function meet(): Promise<{ agent: Submission; network: Network; theirs: Submission }> {
  const agent = await networkTo(server).client().create("together");
  const { url } = await agent.handOff();
  const network = networkTo(server);
  const session = new URL(url).searchParams.get("session") ?? "";
  const opened = await network.client().openSession(agent.id, { session, carrier: "header" });
  return { agent, network, theirs: opened.submission };
}

const saved = (session: FormSession) =>
  expect.poll(() => session.state.saving, { timeout: 10_000, interval: 5 }).toBe("saved");

describe("a form session on a real server", () => {
  it("[PAGES-TOGETHER] [PAGES-NOTHING-LOST] whatever is lost on the way, both writers end with the same fields", async () => {
    const step = fc.tuple(
      fc.constantFrom("a", "city", "list", "shared", "secret", "agent", "agent", "wait"),
      fc.nat(9),
    );
    const fates = fc.array(fc.constantFrom<Fate>("pass", "pass", "pass", "lose_request", "lose_answer"), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 15 }), fates, async (steps, planned) => {
        const { agent, network, theirs } = await meet();
        const session = await FormSession.open({ submission: theirs, storage: memoryStorage(), later });
        const typed: Record<string, unknown> = {};
        const remaining = [...planned];
        // The response of a stream has no end that could be lost.
        const isStream = (headers: Headers) => headers.get("accept") === "text/event-stream";
        network.decide = ({ headers }) => (isStream(headers) ? "pass" : (remaining.shift() ?? "pass"));
        for (const [index, [kind, n]] of steps.entries()) {
          const value = kind === "list" ? ["same", `${index}`] : `typed ${index}`;
          if (kind === "wait") await session.flush();
          else if (kind === "agent") {
            const patch = n % 2 === 0 ? { shared: `agent ${index}` } : { "place.zip": `agent ${index}` };
            await agent.set(patch, { mergeTries: 20, resolve: () => "mine" });
          } else {
            typed[kind] = value;
            session.edit([{ path: kind === "city" ? ["place", "city"] : [kind], value }]);
          }
        }
        network.decide = undefined;
        for (let tries = 0; tries < 500 && session.state.saving !== "saved"; tries++) {
          for (const { path } of session.state.conflicts) session.choose(path, "mine");
          await session.flush();
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
        await session.refresh();
        const { fields = {} } = await theirs.read();
        const { a, list, secret, place } = fields as Record<string, Record<string, unknown>>;
        expect({ a, list, secret, city: place?.city }).toEqual({
          a: typed.a,
          list: typed.list,
          secret: typed.secret,
          city: typed.city,
        });
        expect(session.state).toMatchObject({ saving: "saved", fields });
        session.close();
      }),
      { numRuns: process.env.FORMBRIDGE_LONG === undefined ? 6 : 150 },
    );
  });

  it("[PAGES-REFUSED] a field that is not theirs, or none at all, is shown as refused and stops nothing", async () => {
    const { agent, theirs } = await meet();
    const session = await FormSession.open({ submission: theirs, later });
    session.edit([
      { path: ["staff"], value: "not mine" },
      { path: ["nowhere"], value: "no field" },
      { path: ["a"], value: "stored" },
    ]);
    await expect.poll(() => session.state.refused.map(({ path }) => path).toSorted()).toEqual(["nowhere", "staff"]);
    await expect.poll(async () => (await agent.read()).fields).toEqual({ a: "stored" });
    await expect.poll(() => session.state.saving).toBe("waiting");
    session.close();
  });

  it("[PAGES-SENSITIVE] behind a direct link a sensitive value is saved, though it comes back masked", async () => {
    const agent = await networkTo(server).client().create("together");
    const direct = networkTo(server)
      .client({ actor: { kind: "human", id: "form" } })
      .submission({ resumeToken: agent.resumeToken ?? "" });
    const session = await FormSession.open({ submission: direct, later });
    session.edit([{ path: ["secret"], value: "1234" }]);
    await saved(session);
    expect(session.state).toMatchObject({ conflicts: [], fields: { secret: { masked: true } } });
    expect(session.state.resumeToken).not.toBe(agent.resumeToken);
    const writes = session.state.record.version;
    await session.flush();
    expect((await direct.read()).version).toBe(writes);
    session.close();
  });

  it("[PAGES-ENDED] after a submission was cancelled, what was typed can be copied", async () => {
    const { agent, theirs } = await meet();
    const session = await FormSession.open({ submission: theirs, later: () => () => {} });
    session.edit([{ path: ["a"], value: "too late" }]);
    await agent.cancel();
    await session.flush();
    expect(session.state.ended).toMatchObject({ type: "cancelled" });
    expect(session.unsaved()).toEqual({ a: "too late" });
    session.close();
  });
});
