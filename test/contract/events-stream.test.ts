import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handOff, visit } from "../support/handoffs.ts";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, created, eventsOf, HUMAN, idempotencyKey, setFields, submit, typesOf } from "../support/moves.ts";
import { openStream } from "../support/sse.ts";
import { HOUR } from "../support/submissions.ts";

interface Revocable {
  url: string;
  key?: string;
  revoke(): Promise<Reply>;
}

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "forms" });
});
afterAll(() => server.stop());

describe("forms", () => {
  it("[EVENTS-ACCEPT] Accept selects the format, and JSON is the default", async () => {
    const { resumeToken } = await created(server, "forms");
    for (const [accept, type] of [
      [undefined, "application/json"],
      ["*/*", "application/json"],
      ["application/json", "application/json"],
      ["application/x-ndjson", "application/x-ndjson"],
      ["application/x-ndjson, */*", "application/x-ndjson"],
      ["application/json;q=0.5, Application/X-NDJSON", "application/x-ndjson"],
      ["text/event-stream;q=0.1, application/x-ndjson", "application/x-ndjson"],
      ["application/json, application/x-ndjson;q=0.5", "application/json"],
      ["*/*, text/event-stream;q=0.5", "application/json"],
      ["text/event-stream;q=0", "application/json"],
    ] as const) {
      const reply = await server.call("GET", `/resume/${resumeToken}/events`, { headers: accept ? { accept } : {} });
      expect([reply.status, reply.headers["content-type"]?.split(";")[0]]).toEqual([200, type]);
    }
    const stream = await openStream(`${server.url}/resume/${resumeToken}/events`);
    expect(stream.contentType).toContain("text/event-stream");
    await stream.close();
  });

  it("[EVENTS-JSONL] one JSON object a line, the same events that JSON gives", async () => {
    const { resumeToken, submissionId } = await created(server, "forms", { body: { initialFields: { name: "a\nb" } } });
    const query = "stream=all&limit=2";
    const json = await eventsOf(server, submissionId, query);
    const lines = await server.call("GET", `/resume/${resumeToken}/events?${query}`, {
      headers: { accept: "application/x-ndjson" },
    });
    expect(lines.body.endsWith("\n")).toBe(true);
    expect(
      lines.body
        .trimEnd()
        .split("\n")
        .map((line: string) => JSON.parse(line)),
    ).toEqual(json);
  });
});

describe("live", () => {
  it("[EVENTS-SSE-START] a stream begins with the first event; frames carry id, type and the event", async () => {
    const { resumeToken, submissionId } = await created(server, "forms", { body: { initialFields: { name: "Ada" } } });
    const stream = await openStream(`${server.url}/resume/${resumeToken}/events`);
    const frames = await stream.take(2);
    const events = await eventsOf(server, submissionId, "");
    expect(frames.map(({ id, event }) => [id, event])).toEqual(events.map(({ eventId, type }) => [eventId, type]));
    expect(frames.map(({ data }) => JSON.parse(data))).toEqual(events);
    await stream.close();
  });

  it.each(["Last-Event-ID", "afterEventId"])(
    "[EVENTS-SSE-RESUME] %s makes it continue after that event",
    async (how) => {
      const { resumeToken, submissionId } = await created(server, "forms", {
        body: { initialFields: { name: "Ada" } },
      });
      const set = await setFields(server, resumeToken, { note: "x" });
      const [first, ...rest] = await eventsOf(server, submissionId, "");
      const url = `${server.url}/resume/${set.body.resumeToken}/events`;
      const stream =
        how === "Last-Event-ID"
          ? await openStream(url, { "last-event-id": first.eventId })
          : await openStream(`${url}?afterEventId=${first.eventId}`);
      expect((await stream.take(2)).map(({ id }) => id)).toEqual(rest.map(({ eventId }) => eventId));
      await stream.close();
    },
  );

  it("[EVENTS-AFTER-UNKNOWN] an unknown Last-Event-ID is a 400, not a stream", async () => {
    const { resumeToken } = await created(server, "forms");
    const reply = await server.call("GET", `/resume/${resumeToken}/events`, {
      headers: { accept: "text/event-stream", "last-event-id": "evt_01977d3e-8c00-7000-8000-000000000001" },
    });
    expect([reply.status, reply.body.error.type]).toEqual([400, "bad_request"]);
  });

  it("[EVENTS-SSE-LIVE] events written while the stream is open arrive as they are written", async () => {
    const made = await created(server, "forms");
    const stream = await openStream(`${server.url}/submissions/${made.submissionId}/events`, {
      authorization: `Bearer ${server.adminKey}`,
    });
    expect((await stream.take(1))[0]?.event).toBe("submission.created");
    const set = await setFields(server, made.resumeToken, { name: "Ada" });
    expect((await stream.take(1))[0]?.event).toBe("field.updated");
    await submit(server, set.body.resumeToken, "live");
    expect((await stream.take(2)).map(({ event }) => event)).toEqual(["submission.submitted", "submission.finalized"]);
    await stream.close();
  });

  it("[EVENTS-SSE-LIVE] three readers of 40 quick writes see the same history without a gap", async () => {
    const made = await created(server, "forms");
    const open = () =>
      openStream(`${server.url}/submissions/${made.submissionId}/events`, {
        authorization: `Bearer ${server.adminKey}`,
      });
    const readers = await Promise.all([open(), open(), open()]);
    let token: string = made.resumeToken;
    for (let round = 0; round < 40; round++) {
      token = (await setFields(server, token, { note: String(round) })).body.resumeToken;
    }
    for (const reader of readers) {
      const frames = await reader.take(41);
      expect(frames.map(({ data }) => JSON.parse(data).seq)).toEqual(
        Array.from({ length: 41 }, (_, index) => index + 1),
      );
      await reader.close();
    }
  });

  it("[EVENTS-SSE-LIVE] a stream may be of other streams and chosen types", async () => {
    const made = await created(server, "forms");
    const stream = await openStream(
      `${server.url}/resume/${made.resumeToken}/events?types=token.created,token.updated`,
    );
    expect((await stream.take(1))[0]?.event).toBe("token.created");
    await setFields(server, made.resumeToken, { name: "Ada" });
    expect((await stream.take(1))[0]?.event).toBe("token.updated");
    await stream.close();
  });

  /** What gives a reader access, and how that is revoked. */
  const revocations: Record<string, (made: Loose) => Promise<Revocable>> = {
    async session({ submissionId, resumeToken }) {
      const handoff = await handOff(server, resumeToken);
      const { session } = await visit(server, handoff);
      const path = `/submissions/${submissionId}/handoffs/${handoff.handoffId}`;
      return {
        url: `/submissions/${submissionId}/events`,
        key: session,
        revoke: () => server.call("DELETE", path, { key: server.adminKey }),
      };
    },
    async key({ submissionId }) {
      const body = { name: "v", roles: ["viewer"], actor: { kind: "human", id: "v" } };
      const { key, keyId } = (await server.call("POST", "/keys", { key: server.adminKey, body })).body;
      return {
        url: `/submissions/${submissionId}/events`,
        key,
        revoke: () => server.call("DELETE", `/keys/${keyId}`, { key: server.adminKey }),
      };
    },
    async token({ submissionId, resumeToken }) {
      const path = `/submissions/${submissionId}/tokens/revoke`;
      return {
        url: `/resume/${resumeToken}/events`,
        revoke: () => server.call("POST", path, { key: server.adminKey, body: {} }),
      };
    },
  };

  it.each(Object.entries(revocations))("[EVENTS-SSE-REVOKED] a stream ends when its %s is revoked", async (_, open) => {
    const made = await created(server, "forms", { body: { initialFields: { name: "Ada" } } });
    const { url, key, revoke } = await open(made);
    const stream = await openStream(server.url + url, key === undefined ? {} : { authorization: `Bearer ${key}` });
    await stream.take(2);
    expect((await revoke()).status).toBe(200);
    const { version } = (await server.call("GET", `/submissions/${made.submissionId}`, { key: server.adminKey })).body;
    const body = { fields: { name: "after the revocation" }, version };
    const written = await server.call("PATCH", `/submissions/${made.submissionId}/fields`, {
      key: server.adminKey,
      body,
    });
    expect(written.status).toBe(200);
    expect((await stream.rest()).map(({ data }) => data).join()).not.toContain("after the revocation");
  });

  it("[EVENTS-SSE-LIVE] a stream continues when its token is rotated, and a session's stream shows the end of its submission", async () => {
    const made = await created(server, "forms");
    const { session } = await visit(server, await handOff(server, made.resumeToken));
    const byToken = await openStream(`${server.url}/resume/${made.resumeToken}/events?types=field.updated`);
    const url = `${server.url}/submissions/${made.submissionId}/events?types=submission.finalized`;
    const inSession = await openStream(url, { authorization: `Bearer ${session}` });
    const set = await setFields(server, made.resumeToken, { name: "Ada" });
    server.clock.advance(HOUR);
    const again = await setFields(server, set.body.resumeToken, { name: "Grace" });
    expect(await byToken.take(2)).toHaveLength(2);
    await submit(server, again.body.resumeToken, "rotated");
    expect((await inSession.take(1))[0]?.event).toBe("submission.finalized");
    await Promise.all([byToken.close(), inSession.close()]);
  });
});

describe("the feed of all submissions", () => {
  async function page(query: string): Promise<{ items: Loose[]; nextPageToken?: string }> {
    const reply = await server.call("GET", `/events?${query}`, { key: server.adminKey });
    expect(reply.status).toBe(200);
    return reply.body;
  }

  it("[EVENTS-FEED] events of all submissions come in the order of their commits", async () => {
    await server.putIntake({ id: "feed" });
    const [one, two] = [await created(server, "feed"), await created(server, "feed")];
    await setFields(server, two.resumeToken, { name: "second" });
    await setFields(server, one.resumeToken, { name: "first" });
    const { items } = await page("intakeId=feed&limit=1000");
    expect(items.map(({ submissionId, type }) => [submissionId, type])).toEqual([
      [one.submissionId, "submission.created"],
      [two.submissionId, "submission.created"],
      [two.submissionId, "field.updated"],
      [one.submissionId, "field.updated"],
    ]);
    expect(typesOf((await page("intakeId=feed&types=token.created")).items)).toEqual([
      "token.created",
      "token.created",
    ]);
  });

  it("[EVENTS-FEED-FILTERS] by submission, kind of actor and time, page after page", async () => {
    await server.putIntake({ id: "sifted" });
    const [one, two] = [await created(server, "sifted"), await created(server, "sifted")];
    let { resumeToken } = one;
    for (const [index, actor] of [HUMAN, AGENT, HUMAN, AGENT].entries()) {
      server.clock.advance(1_000);
      ({ resumeToken } = (await setFields(server, resumeToken, { note: `n${index}` }, { body: { actor } })).body);
    }
    await setFields(server, two.resumeToken, { name: "x" }, { body: { actor: HUMAN } });
    const walk = async (query: string): Promise<Loose[]> => {
      const found: Loose[] = [];
      let token = "";
      for (let pages = 0; pages < 50; pages++) {
        const { items, nextPageToken } = await page(`${query}&limit=1${token}`);
        found.push(...items);
        token = `&pageToken=${nextPageToken}`;
        if (items.length === 0) return found;
      }
      throw new Error("the pages do not end");
    };
    const ofOne = await walk(`submissionId=${one.submissionId}`);
    expect(typesOf(ofOne)).toEqual(typesOf(await eventsOf(server, one.submissionId, "")));
    const updated = ofOne.filter(({ type }) => type === "field.updated");
    const ids = (events: Loose[]) => events.map(({ eventId }) => eventId);
    const kind = (name: string) => updated.filter(({ actor }) => actor.kind === name);
    const only = `submissionId=${one.submissionId}&types=field.updated`;
    expect(ids(await walk(`${only}&actorKind=human`))).toEqual(ids(kind("human")));
    const from = updated[1].ts;
    expect(ids(await walk(`${only}&from=${from}&until=${updated[3].ts}`))).toEqual(ids(updated.slice(1, 3)));
    const humans = await walk("intakeId=sifted&types=field.updated&actorKind=human");
    expect(humans.map(({ submissionId }) => submissionId)).toEqual(
      [one, one, two].map(({ submissionId }) => submissionId),
    );
    expect(await walk(`submissionId=${one.submissionId}&intakeId=forms`)).toEqual([]);
    expect(await walk("submissionId=sub_nobody")).toEqual([]);
    const refused = await server.call("GET", "/events?actorKind=robot", { key: server.adminKey });
    expect(refused.status).toBe(400);
  });

  it("[EVENTS-FEED-NO-SKIP] a reader who follows while others write sees every event once", async () => {
    await server.putIntake({ id: "busy-feed" });
    let writing = true;
    const writers = Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        for (let round = 0; round < 5; round++) {
          const made = await created(server, "busy-feed", {
            body: { idempotencyKey: idempotencyKey(`w${writer}-${round}`) },
          });
          await setFields(server, made.resumeToken, { name: "Ada" });
        }
      }),
    ).finally(() => {
      writing = false;
    });
    const seen: string[] = [];
    let query = "intakeId=busy-feed&stream=all&limit=7";
    for (;;) {
      const last = !writing;
      const { items, nextPageToken } = await page(query);
      seen.push(...items.map(({ eventId }) => eventId as string));
      if (nextPageToken !== undefined) query = `pageToken=${nextPageToken}`;
      if (items.length === 0 && last) break;
    }
    await writers;
    const { items: whole } = await page("intakeId=busy-feed&stream=all&limit=1000");
    expect(whole).toHaveLength(8 * 5 * 5);
    expect(seen).toEqual(whole.map(({ eventId }) => eventId));
  });
});
