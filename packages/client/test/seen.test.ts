import { MergeConflictError, type Submission } from "@formbridge/client";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../../test/support/harness.ts";
import { createScriptedCourier } from "../../../test/support/scripted-courier.ts";
import { HOUR } from "../../../test/support/submissions.ts";
import { FILES_SCHEMA } from "../../../test/support/uploads.ts";
import { type Network, networkTo, refusal } from "./network.ts";

const SCHEMA = {
  type: "object",
  properties: {
    a: { type: "string" },
    b: { type: "string" },
    place: {
      type: "object",
      properties: {
        city: { type: "string" },
        street: { type: "string" },
        geo: { type: "object", properties: { lat: { type: "number" }, lon: { type: "number" } } },
      },
    },
    list: { type: "array", items: { type: "string" } },
  },
};

let server: TestServer;
let network: Network;
beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "shared", schema: SCHEMA as never });
  await server.putIntake({ id: "files", schema: FILES_SCHEMA });
});
afterAll(() => server.stop());
beforeEach(() => {
  network = networkTo(server);
});

/** Two programs that hold the same version of one submission. */
async function two(fields: Record<string, unknown> = {}, apiKey?: string): Promise<[Submission, Submission]> {
  const client = network.client(apiKey === undefined ? {} : { apiKey });
  const one = await client.create("shared", fields);
  const other = network.client().submission({ resumeToken: one.resumeToken ?? "" });
  await other.read();
  return [one, other];
}

const agentKey = () => server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "bot" } });

describe("a write is based on what its caller has seen", () => {
  it("[CLIENT-SEEN] by id too, when tokens can't be looked up and a read is newer", async () => {
    const [one, other] = await two({ a: "before" }, await agentKey());
    await other.set({ a: "theirs" });
    const byToken = refusal(503, { type: "service_unavailable", retryable: true });
    let isFirst = true;
    network.decide = ({ method, headers }) => {
      if (method !== "PATCH" || !headers.get("if-match")?.includes("rtok_")) return "pass";
      return async () => {
        // A read in flight beside the write shows the caller nothing before the write has ended.
        if (isFirst) await one.read();
        isFirst = false;
        return byToken();
      };
    };
    await expect(one.set({ a: "mine" })).rejects.toBeInstanceOf(MergeConflictError);
    network.decide = undefined;
    expect((await other.read()).fields).toEqual({ a: "theirs" });
  });

  it("[CLIENT-SEEN] even if its token had lapsed and was reissued", async () => {
    const apiKey = await agentKey();
    const one = await network.client({ apiKey }).create("shared", { a: "before" });
    server.clock.advance(2 * HOUR);
    const other = network.client({ apiKey }).submission({ submissionId: one.id });
    await other.read();
    await other.reissueToken();
    await other.set({ a: "theirs" });
    server.clock.advance(2 * HOUR);
    await expect(one.set({ a: "mine" })).rejects.toBeInstanceOf(MergeConflictError);
    await other.reissueToken();
    expect((await other.read()).fields).toEqual({ a: "theirs" });
  });

  it("[CLIENT-SEEN] even if a merge was interrupted after the refusal", async () => {
    const [one, other] = await two({ a: "before", b: "before" });
    await other.set({ a: "theirs" });
    let patches = 0;
    network.decide = ({ method }) => (method === "PATCH" && ++patches > 1 ? "lose_request" : "pass");
    await expect(one.set({ b: "mine" })).rejects.toMatchObject({ type: "network_error" });
    network.decide = undefined;
    expect(one.fields).toEqual({ a: "theirs", b: "before" });
    await one.set({ b: "mine" });
    expect((await other.read()).fields).toEqual({ a: "theirs", b: "mine" });
  });

  it("[CLIENT-SEEN] even if another call of this program was based on a newer version", async () => {
    const [one, other] = await two({ a: "before" });
    await other.set({ a: "theirs" });
    await one.handOff();
    expect(one.fields).toEqual({ a: "before" });
    await expect(one.set({ a: "mine" })).rejects.toMatchObject({
      conflicts: [{ path: "a", base: "before", mine: "mine", theirs: "theirs" }],
    });
    expect((await other.read()).fields).toEqual({ a: "theirs" });
  });

  it("[CLIENT-SEEN] a patch made on older fields is compared before it is sent", async () => {
    const [one, other] = await two({ a: "before", b: "before" });
    const base = one.fields;
    await other.set({ a: "theirs" });
    await one.read();
    const asked: string[] = [];
    const resolve = ({ path }: { path: string }) => {
      asked.push(path);
      return "theirs" as const;
    };
    await one.set({ a: "mine", b: "mine" }, { base, resolve });
    expect(asked).toEqual(["a"]);
    expect((await other.read()).fields).toEqual({ a: "theirs", b: "mine" });
  });
});

describe("three-way merge inside objects", () => {
  it("[CLIENT-MERGE] members of one object that two programs set are both kept, however they are written", async () => {
    const [one, other] = await two({ place: { city: "Rome", geo: { lat: 1 } } });
    await other.set({ place: { street: "Via", geo: { lon: 2 } } });
    await one.set({ place: { city: "Paris", geo: { lat: 3 } } });
    expect((await one.read()).fields).toEqual({ place: { city: "Paris", street: "Via", geo: { lat: 3, lon: 2 } } });
  });

  it("[CLIENT-MERGE-CONFLICT] the member that both set is named, and the rest of the patch is kept", async () => {
    const [one, other] = await two({ place: { city: "Rome" } });
    await other.set({ "place.city": "Oslo", "place.geo.lat": 1 });
    const asked: unknown[] = [];
    const patch = { place: { city: "Paris", street: "Rue" }, "place.geo.lat": 2, b: "mine" };
    const choice: Record<string, "mine" | "theirs"> = { "place.city": "theirs", "place.geo.lat": "mine" };
    await one.set(patch, {
      resolve: (conflict) => {
        asked.push(conflict);
        return choice[conflict.path] ?? "mine";
      },
    });
    expect(asked).toEqual([
      { path: "place.city", base: "Rome", mine: "Paris", theirs: "Oslo" },
      { path: "place.geo.lat", base: undefined, mine: 2, theirs: 1 },
    ]);
    expect((await one.read()).fields).toEqual({ b: "mine", place: { city: "Oslo", street: "Rue", geo: { lat: 2 } } });
  });

  it("[CLIENT-MERGE] what both removed is no conflict", async () => {
    const [one, other] = await two({ a: "x", place: { city: "Rome", street: "Via" } });
    await other.set({ a: null, "place.city": null });
    await one.set({ a: null, place: { city: null }, b: "mine" });
    expect((await one.read()).fields).toEqual({ b: "mine", place: { street: "Via" } });
  });
});

describe("calls that conflict with nobody", () => {
  it("[CLIENT-STALE] succeed even if somebody else has written meanwhile", async () => {
    const [one, other] = await two();
    await other.set({ a: "1" });
    const { url } = await one.handOff();
    const session = new URL(url).searchParams.get("session") ?? "";
    const { opened, submission: theirs } = await network.client().openSession(one.id, { session, carrier: "header" });
    await other.set({ a: "2" });
    expect(await one.validate()).toMatchObject({ ok: true });
    await other.set({ a: "3" });
    const { session: handoff } = await theirs.intake();
    await theirs.completeHandoff(handoff?.handoffId ?? "");
    const { events } = await other.events();
    expect(opened.ok).toBe(true);
    expect(events.map(({ type }) => type)).toContain("handoff.completed");
  });

  it("[CLIENT-UPLOAD-ABANDON] abandoning an upload removes it from the server, even when others write", async () => {
    const submission = await network.client().create("files");
    const other = network.client().submission({ resumeToken: submission.resumeToken ?? "" });
    const content = new Blob([new Uint8Array(9_000_000)]);
    const upload = submission.upload("any", { content, filename: "large.bin" }, { onProgress: () => upload.pause() });
    await expect.poll(() => upload.ticket).toBeDefined();
    await other.read();
    await other.set({ name: "theirs" });
    await upload.abandon();
    await expect(upload.done).rejects.toMatchObject({ name: "AbortError" });
    const { events } = await other.events();
    expect(events.map(({ type }) => type)).toContain("upload.abandoned");
    expect((await submission.read()).fields).toEqual({ name: "theirs" });
  });
});

describe("a delivery that was given up", () => {
  it("[CLIENT-RETRY-DELIVERY] can be restarted", async () => {
    const courier = createScriptedCourier();
    const delivering = await startTestServer({ courier, env: { FORMBRIDGE_JOB_POLL_MS: "5" } });
    try {
      const destination = { kind: "webhook", url: "https://receiver.invalid/hook" } as const;
      await delivering.putIntake({ id: "sent", destination });
      courier.next("sent", { kind: "failed", error: "The webhook answered 422.", final: true });
      const submission = await networkTo(delivering).client().create("sent", { name: "Ada" });
      await submission.submit({ waitSeconds: 0 });
      await expect.poll(async () => (await submission.read()).deliveryState?.givenUp).toBe(true);
      expect(await submission.retryDelivery()).toMatchObject({ ok: true, submissionId: submission.id });
      await expect.poll(async () => (await submission.read()).state).toBe("finalized");
    } finally {
      await delivering.stop();
    }
  });
});
