import type { IntakeEvent } from "@formbridge/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../../test/support/harness.ts";
import { readServerSentEvents } from "../src/sse.ts";
import { type Network, networkTo } from "./network.ts";

let server: TestServer;
let network: Network;
beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "order" });
});
afterAll(() => server.stop());
beforeEach(() => {
  network = networkTo(server);
});

const seqs = (events: readonly IntakeEvent[]) => events.map(({ seq }) => seq);
const isStream = (headers: Headers) => headers.get("accept") === "text/event-stream";

describe("following events", () => {
  it("[CLIENT-WATCH] sees each event once and in order, and ends with the submission", async () => {
    const submission = await network.client().create("order");
    const seen = Array.fromAsync(submission.watch());
    await submission.set({ name: "Ada" });
    await submission.submit();
    const events = await seen;
    expect(events.map(({ type }) => type)).toEqual([
      "submission.created",
      "field.updated",
      "submission.submitted",
      "submission.finalized",
    ]);
    expect(seqs(events)).toEqual([1, 2, 3, 4]);
  });

  it("[CLIENT-WATCH-RESUMES] continues after the last event it saw when the connection breaks", async () => {
    const submission = await network.client().create("order");
    await submission.set({ name: "Ada" });
    const cut = cutAfterFirstEvent(network);
    const seen = Array.fromAsync(submission.watch());
    await cut;
    await submission.submit();
    expect(seqs(await seen)).toEqual([1, 2, 3, 4]);
    const streams = network.sent.filter(({ headers }) => isStream(headers));
    expect(streams.map(({ headers }) => headers.get("last-event-id"))).toEqual([null, expect.stringMatching(/^evt_/)]);
  });

  it("[CLIENT-WATCH-POLLS] polls where streams do not work", async () => {
    network.decide = ({ headers }) => (isStream(headers) ? () => new Response("<html>", { status: 200 }) : "pass");
    const submission = await network.client().create("order");
    const events: IntakeEvent[] = [];
    for await (const event of submission.watch({ pollMs: 7 })) {
      events.push(event);
      if (event.seq === 1) await submission.set({ name: "Ada" });
      if (event.seq === 2) await submission.submit();
    }
    expect(seqs(events)).toEqual([1, 2, 3, 4]);
    expect(network.waits).toContain(7);
  });

  it("[CLIENT-WATCH] starts and stops where it is asked to", async () => {
    const submission = await network.client().create("order");
    await submission.set({ name: "Ada" });
    const { events } = await submission.events();
    const abort = new AbortController();
    const seen: IntakeEvent[] = [];
    for await (const event of submission.watch({ afterEventId: events[0]?.eventId ?? "", signal: abort.signal })) {
      seen.push(event as IntakeEvent);
      abort.abort();
    }
    expect(seqs(seen)).toEqual([2]);
  });

  it("[CLIENT-WATCH] a watcher who loses access gets an error", async () => {
    const submission = await network.client({ apiKey: "fbk_nobody" }).submission({ submissionId: "sub_x" });
    await expect(Array.fromAsync(submission.watch())).rejects.toMatchObject({ type: "unauthorized" });
  });

  it("[CLIENT-WATCH] parses a stream however it is split", async () => {
    const text = ': hello\n\nid: 1\ndata: {"a":"ü"}\n\nid: 2\r\ndata: one\r\ndata: two\r\n\r\n';
    const bytes = new TextEncoder().encode(text);
    for (let size = 1; size < bytes.length; size++) {
      const pieces: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.slice(at, at + size));
      const read = await Array.fromAsync(readServerSentEvents(ReadableStream.from(pieces) as never));
      expect(read).toEqual([
        { id: "1", data: '{"a":"ü"}' },
        { id: "2", data: "one\ntwo" },
      ]);
    }
  });
});

/** Cuts the first stream once it has carried an event. Resolves when that has happened. */
function cutAfterFirstEvent(network: Network): Promise<void> {
  return new Promise((resolve) => {
    network.decide = ({ headers, url }) => {
      if (!isStream(headers)) return "pass";
      network.decide = undefined;
      return async () => {
        const response = await fetch(url, { headers });
        const reader = (response.body as ReadableStream<Uint8Array>).getReader();
        let text = "";
        while (!text.includes("data:")) text += new TextDecoder().decode((await reader.read()).value);
        await reader.cancel();
        const first = `${text.slice(0, text.indexOf("\n\n", text.indexOf("data:")))}\n\n`;
        resolve();
        return new Response(first, { headers: { "content-type": "text/event-stream" } });
      };
    };
  });
}
