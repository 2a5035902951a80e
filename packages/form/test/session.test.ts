import { describe, expect, it } from "vitest";
import type { FieldPath } from "../src/engine/changes.ts";
import { FormSession } from "../src/session/form-session.ts";
import type { FormSessionOptions } from "../src/session/form-state.ts";
import { memoryStorage } from "./memory-storage.ts";
import { SimulatedServer, settled } from "./simulated-server.ts";

/** The network works: everything that is sent arrives, and every timer fires. */
async function run(server: SimulatedServer, rounds = 12): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await settled();
    for (const step of server.steps.splice(0)) step.deliver();
    await settled();
    for (const timer of server.timers.splice(0)) timer();
  }
  await settled();
}

async function open(server: SimulatedServer, options: Partial<FormSessionOptions> = {}): Promise<FormSession> {
  const submission = server.client().submission({ submissionId: "sub_1" });
  const opening = FormSession.open({ submission, later: server.later, ...options });
  await run(server, 3);
  return await opening;
}

const refusal = (status: number, error: Record<string, unknown>) =>
  new Response(JSON.stringify({ ok: false, error: { message: String(error.type), retryable: false, ...error } }), {
    status,
  });

const change = (path: FieldPath, value?: unknown) => [value === undefined ? { path } : { path, value }];

describe("what can't be stored", () => {
  it("[PAGES-REFUSED] is shown at its field, everything else is saved, and it is retried once it is changed", async () => {
    const server = new SimulatedServer();
    server.unstorable = (path, value) => path === "a" && value === "bad";
    const session = await open(server);
    session.edit([...change(["a"], "bad"), ...change(["b"], "good")]);
    await run(server);
    expect(server.fields).toEqual({ b: "good" });
    expect(session.state).toMatchObject({ saving: "waiting", refused: [{ path: "a" }], fields: { a: "bad" } });
    expect(session.unsaved()).toEqual({ a: "bad" });
    session.edit(change(["a"], "fine"));
    await run(server);
    expect(server.fields).toEqual({ a: "fine", b: "good" });
    expect(session.state).toMatchObject({ saving: "saved", refused: [] });
  });

  it("[PAGES-REFUSED] is found one by one when the server does not name it", async () => {
    const server = new SimulatedServer();
    const session = await open(server);
    server.refusals.push(refusal(413, { type: "payload_too_large" }), refusal(413, { type: "payload_too_large" }));
    session.edit([...change(["a"], "huge"), ...change(["b"], "good"), ...change(["c"], "also good")]);
    await run(server);
    expect(server.fields).toEqual({ b: "good", c: "also good" });
    expect(session.state.refused).toMatchObject([{ path: "a", message: "payload_too_large" }]);
  });
});

describe("a server that is unavailable", () => {
  it.each([
    [503, { type: "service_unavailable", retryable: true, retryAfterMs: 9 }],
    [429, { type: "rate_limited", retryable: true }],
    [500, { type: "internal_error", retryable: true }],
    [428, { type: "token_required" }],
  ])("[PAGES-NOTHING-LOST] %s keeps what was typed until it is saved", async (status, error) => {
    const server = new SimulatedServer();
    const session = await open(server);
    server.refusals.push(...Array.from({ length: 9 }, () => refusal(status, error)));
    session.edit(change(["a"], "kept"));
    await run(server, 3);
    expect(session.state.fields).toEqual({ a: "kept" });
    expect(session.state.saving).not.toBe("saved");
    await run(server, 30);
    expect(session.state).toMatchObject({ saving: "saved", fields: { a: "kept" } });
    expect(server.fields).toEqual({ a: "kept" });
  });

  it("[PAGES-ENDED] after a link was revoked, what was typed can be copied, and stays in storage", async () => {
    const server = new SimulatedServer();
    const storage = memoryStorage();
    const session = await open(server, { storage });
    server.refusals.push(refusal(410, { type: "token_expired", reason: "revoked" }));
    session.edit(change(["a"], "kept"));
    await run(server);
    expect(session.state.ended).toMatchObject({ type: "token_expired" });
    session.edit(change(["place", "city"], "Paris"));
    expect(session.unsaved()).toEqual({ a: "kept", "place.city": "Paris" });
    session.close();
    const again = await open(server, { storage });
    await run(server);
    expect(server.fields).toEqual({ a: "kept", place: { city: "Paris" } });
    expect(again.state.saving).toBe("saved");
  });

  it("[PAGES-ENDED] a submission that was locked and is open again gets what was typed meanwhile", async () => {
    const server = new SimulatedServer();
    const session = await open(server);
    server.refusals.push(refusal(409, { type: "needs_approval" }));
    session.edit(change(["a"], "kept"));
    await run(server);
    expect(session.state.ended).toMatchObject({ type: "needs_approval" });
    server.write("reviewer", { note: "please mend" });
    await run(server);
    expect(session.state.ended).toBeUndefined();
    expect(server.fields).toEqual({ a: "kept", note: "please mend" });
  });
});

describe("a write whose response is lost", () => {
  it("[PAGES-NOTHING-LOST] is no conflict with oneself, however much was typed since", async () => {
    const server = new SimulatedServer();
    const session = await open(server);
    session.edit(change(["a"], "one"));
    const flushed = session.flush();
    // Executed each time, and every response is lost: the write and both of its retries.
    for (let tries = 0; tries < 3; tries++) {
      await settled();
      server.steps.splice(0).at(-1)?.deliver();
      server.steps.splice(0).at(-1)?.lose();
      await settled();
      server.timers.splice(0).at(-1)?.();
    }
    await flushed;
    expect(server.fields).toEqual({ a: "one" });
    session.edit(change(["a"], "one and two"));
    await run(server, 20);
    expect(session.state).toMatchObject({ saving: "saved", conflicts: [] });
    expect(server.fields).toEqual({ a: "one and two" });
  });

  it("[PAGES-NOTHING-LOST] a value typed back while its change is in flight is stored, too", async () => {
    const server = new SimulatedServer();
    server.fields = { a: "before" };
    const session = await open(server);
    session.edit(change(["a"], "changed"));
    const flushed = session.flush();
    await settled();
    session.edit(change(["a"], "before"));
    await run(server);
    await flushed;
    await run(server);
    expect(server.fields).toEqual({ a: "before" });
    expect(session.state).toMatchObject({ saving: "saved", fields: { a: "before" } });
  });
});

describe("masked values", () => {
  it("[PAGES-SENSITIVE] are written once, though the response does not show them", async () => {
    const server = new SimulatedServer();
    server.masked = (path) => path === "secret";
    const session = await open(server);
    session.edit(change(["secret"], "1234"));
    await run(server);
    expect(session.state).toMatchObject({ saving: "saved", conflicts: [] });
    session.edit(change(["secret"], "5678"));
    await run(server);
    expect(session.state).toMatchObject({ saving: "saved", conflicts: [] });
    expect(server.commits.map(({ value }) => value)).toEqual(["1234", "5678"]);
  });

  it("[PAGES-TOGETHER] [PAGES-SENSITIVE] that somebody else changed are a choice", async () => {
    const server = new SimulatedServer();
    server.fields = { secret: "old" };
    server.masked = (path) => path === "secret";
    const session = await open(server);
    session.edit(change(["secret"], "mine"));
    server.write("agent", { secret: "theirs" });
    await run(server);
    expect(server.fields).toEqual({ secret: "theirs" });
    expect(session.state.conflicts).toMatchObject([{ path: ["secret"], value: "mine" }]);
    session.choose(["secret"], "mine");
    await run(server);
    expect(server.fields).toEqual({ secret: "mine" });
  });

  it("[PAGES-SENSITIVE] inside a list are the person's own while they keep typing in it", async () => {
    const server = new SimulatedServer();
    server.masked = (path) => path === "secrets";
    const session = await open(server);
    session.edit(change(["secrets"], ["one"]));
    // Sent, and not yet answered.
    await settled();
    for (const timer of server.timers.splice(0)) timer();
    await settled();
    session.edit(change(["secrets"], ["one", "two"]));
    await run(server);
    expect(session.state).toMatchObject({ saving: "saved", conflicts: [] });
    expect(server.fields).toEqual({ secrets: ["one", "two"] });
  });

  it("[PAGES-TOGETHER] [PAGES-SENSITIVE] a list of which somebody else removed one is a choice", async () => {
    const server = new SimulatedServer();
    server.fields = { secrets: ["one", "two"] };
    server.masked = (path) => path === "secrets";
    const session = await open(server);
    session.edit(change(["secrets"], ["one", "mine"]));
    server.write("agent", { secrets: ["one"] });
    await run(server);
    expect(server.fields).toEqual({ secrets: ["one"] });
    expect(session.state.conflicts).toMatchObject([{ path: ["secrets"], value: ["one", "mine"] }]);
  });

  it("[PAGES-SENSITIVE] sensitive values are never stored in the browser", async () => {
    const server = new SimulatedServer();
    const storage = memoryStorage();
    const session = await open(server, { storage, isSensitive: ([name]) => name === "secret" });
    session.edit([...change(["secret"], "1234"), ...change(["a"], "plain")]);
    expect(storage.kept).toContain("plain");
    expect(storage.kept).not.toContain("1234");
  });
});

describe("a list", () => {
  it("[PAGES-LISTS] with the focus stays as it is while others change it, and is redrawn when it is left", async () => {
    const server = new SimulatedServer();
    server.fields = { list: ["a"] };
    const session = await open(server);
    session.focus(["list"]);
    server.write("agent", { list: ["b", "a"], other: 1 });
    for (let round = 0; round < 5; round++) {
      await settled();
      for (const step of server.steps.splice(0)) step.deliver();
    }
    expect(session.state.fields).toEqual({ list: ["a"], other: 1 });
    session.focus(undefined);
    await run(server);
    expect(session.state.fields).toEqual({ list: ["b", "a"], other: 1 });
  });

  it("[PAGES-LISTS] in which both typed is one conflict, begun on the list that the person saw", async () => {
    const server = new SimulatedServer();
    server.fields = { list: ["a"] };
    const session = await open(server);
    session.focus(["list"]);
    session.begin({ path: ["list", 0], over: "a" });
    server.write("agent", { list: ["a", "b"] });
    await run(server);
    session.edit(change(["list"], ["ax"]));
    await run(server);
    expect(session.state.conflicts).toMatchObject([{ path: ["list"], value: ["ax"], theirs: { value: ["a", "b"] } }]);
    expect(server.fields).toEqual({ list: ["a", "b"] });
    session.choose(["list"], "theirs");
    await run(server);
    expect(session.state).toMatchObject({ saving: "saved", fields: { list: ["a", "b"] } });
  });

  it("[PAGES-LISTS] builds on what was saved while it keeps the focus", async () => {
    const server = new SimulatedServer();
    const session = await open(server);
    session.focus(["list"]);
    session.edit(change(["list"], ["a"]));
    await run(server);
    session.begin({ path: ["list", 0], over: "a" });
    session.edit(change(["list"], ["ab"]));
    await run(server);
    expect(session.state).toMatchObject({ saving: "saved", conflicts: [], fields: { list: ["ab"] } });
    expect(server.fields).toEqual({ list: ["ab"] });
  });
});

describe("one edit inside another", () => {
  it("[PAGES-NOTHING-LOST] a member changed after its whole object is part of the object's edit", async () => {
    const server = new SimulatedServer();
    server.fields = { place: "somewhere" };
    const session = await open(server);
    session.edit(change(["place"], { city: "Rome" }));
    session.edit(change(["place", "city"], "Paris"));
    expect(session.unsaved()).toEqual({ place: { city: "Paris" } });
    await run(server);
    expect(server.fields).toEqual({ place: { city: "Paris" } });
  });

  it("[PAGES-TOGETHER] an object that swallows a conflict is one itself", async () => {
    const server = new SimulatedServer();
    server.fields = { place: { city: "Rome" } };
    const session = await open(server);
    session.edit(change(["place", "city"], "Paris"));
    server.write("agent", { "place.city": "Oslo" });
    await run(server);
    expect(session.state.conflicts).toHaveLength(1);
    session.edit(change(["place"], "nowhere"));
    await run(server);
    expect(session.state.conflicts).toMatchObject([{ path: ["place"], theirs: { value: { city: "Oslo" } } }]);
    expect(server.fields).toEqual({ place: { city: "Oslo" } });
  });
});

describe("typing that continues", () => {
  it("[PAGES-NOTHING-LOST] in a field that was never left is no conflict with its own earlier saves", async () => {
    const server = new SimulatedServer();
    const session = await open(server);
    session.begin({ path: ["a"], over: undefined });
    expect(session.state.saving).toBe("waiting");
    session.edit(change(["a"], "ada@exam"));
    await run(server);
    expect(session.state.saving).toBe("saved");
    session.begin({ path: ["a"], over: undefined });
    session.edit(change(["a"], "ada@example.com"));
    await run(server);
    expect(session.state).toMatchObject({ saving: "saved", conflicts: [] });
    expect(server.fields).toEqual({ a: "ada@example.com" });
  });

  it("[PAGES-NOTHING-LOST] and returns to where it began leaves nothing to save", async () => {
    const server = new SimulatedServer();
    const session = await open(server);
    session.begin({ path: ["a"], over: undefined });
    session.edit([]);
    await run(server);
    expect(session.state.saving).toBe("saved");
    expect(server.commits).toEqual([]);
  });
});
