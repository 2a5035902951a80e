import type { Destination } from "@formbridge/contract";
import type { Courier, OutgoingDelivery, Receipt } from "@formbridge/core";
import { afterEach, describe, expect, it } from "vitest";

/** The network between courier and receiver. A courier without one says why. */
export type Way =
  | {
      /** Breaks open connections and refuses new ones. */
      cut(): Promise<void>;
      /** Keeps open connections and accepts new ones, but passes nothing on. */
      stall(): void;
      mend(): Promise<void>;
      connections(): number;
    }
  | { whyNone: string };

export interface Received {
  id: string;
  body: string;
}

/** A courier and the real receiver it sends to. */
export interface OpenedCourier {
  courier: Courier;
  destination: Destination;
  way: Way;
  /** Everything received so far, oldest first. */
  received(): Promise<Received[]>;
  close(): Promise<void>;
}

/** Opens a courier whose sends take at most `timeoutMs`. */
export type OpenCourier = (options: { timeoutMs: number }) => Promise<OpenedCourier>;

/** More than a working receiver needs, on any machine. */
const AMPLE_MS = 20_000;
/** How long tests wait for a receiver that doesn't respond. */
const SHORT_MS = 1_500;
/** For effects that are visible from outside a little later. */
const PATIENCE = { timeout: 15_000 };
/** Tolerance beyond the timeout for a busy machine, and still far from waiting forever. */
const SLACK_MS = 5_000;

export function describeCourier(name: string, open: OpenCourier): void {
  describe(`courier: ${name}`, () => {
    let opened: OpenedCourier;
    let made = 0;
    const begin = async (timeoutMs = AMPLE_MS): Promise<OpenedCourier> => {
      opened = await open({ timeoutMs });
      return opened;
    };
    afterEach(async () => {
      await opened.courier.close();
      await opened.close();
    });

    function outgoing(more: Partial<OutgoingDelivery> = {}): OutgoingDelivery {
      made += 1;
      return {
        deliveryId: `dlv_${process.pid}-${made}`,
        tenant: "default",
        intakeId: "orders",
        submissionId: `sub_${made}`,
        destination: opened.destination,
        body: JSON.stringify({ text: `Zoë ☂ ${made}`, nested: { list: [1, null, "two\nlines"] } }),
        submittedAt: Date.UTC(2026, 0, 1),
        attempt: 1,
        secrets: ["whsec_c2VjcmV0IG9mIHRoZSBzdWl0ZQ=="],
        ...more,
      };
    }
    const send = (one: OutgoingDelivery, signal = new AbortController().signal): Promise<Receipt> =>
      opened.courier.send(one, signal);

    it("what is accepted has arrived, with exactly its body and its id", async () => {
      const { received } = await begin();
      const sent = [outgoing(), outgoing(), outgoing()];
      for (const one of sent) expect(await send(one)).toMatchObject({ kind: "accepted" });
      expect(await received()).toEqual(sent.map(({ deliveryId: id, body }) => ({ id, body })));
    });

    it("many at once all arrive", async () => {
      const { received } = await begin();
      const sent = Array.from({ length: 25 }, () => outgoing());
      const receipts = await Promise.all(sent.map((one) => send(one)));
      expect(receipts.map(({ kind }) => kind)).toEqual(sent.map(() => "accepted"));
      const ids = (await received()).map(({ id }) => id);
      expect(ids.toSorted()).toEqual(sent.map(({ deliveryId }) => deliveryId).toSorted());
    });

    it("a delivery that is sent again has the same id and body, so the receiver can recognize it", async () => {
      const { received } = await begin();
      const one = outgoing();
      expect(await send(one)).toMatchObject({ kind: "accepted" });
      expect(await send({ ...one, attempt: 2 })).toMatchObject({ kind: "accepted" });
      const arrived = await received();
      expect(new Set(arrived.map(({ id }) => id))).toEqual(new Set([one.deliveryId]));
      expect(new Set(arrived.map(({ body }) => body))).toEqual(new Set([one.body]));
    });

    it("a receiver that is down fails the delivery in time; when it is back, deliveries arrive without a restart", async () => {
      const { way, received } = await begin();
      if ("whyNone" in way) return expect(way.whyNone).not.toBe("");
      expect(await send(outgoing())).toMatchObject({ kind: "accepted" });
      await way.cut();
      const start = performance.now();
      const lost = outgoing();
      const said = expect.stringMatching(/refuses connections|broke the connection/);
      expect(await send(lost)).toEqual({ kind: "failed", error: said });
      expect(performance.now() - start).toBeLessThan(AMPLE_MS + SLACK_MS);
      await way.mend();
      expect(await send({ ...lost, attempt: 2 })).toMatchObject({ kind: "accepted" });
      expect((await received()).at(-1)).toEqual({ id: lost.deliveryId, body: lost.body });
    });

    it.each(["before", "after"])(
      "a receiver that is silent, %s a connection is open, fails the delivery in time",
      async (when) => {
        const { way, courier } = await begin(SHORT_MS);
        if ("whyNone" in way) return expect(way.whyNone).not.toBe("");
        if (when === "after") await expect.poll(async () => (await send(outgoing())).kind, PATIENCE).toBe("accepted");
        way.stall();
        const start = performance.now();
        const receipt = await send(outgoing());
        expect(receipt).toMatchObject({ kind: "failed", error: expect.stringContaining(`${SHORT_MS} ms`) });
        expect(performance.now() - start).toBeLessThan(SHORT_MS + SLACK_MS);
        await courier.close();
        await expect.poll(way.connections, PATIENCE).toBe(0);
      },
    );

    it("an abort ends a send as a failure, without waiting for the timeout", async () => {
      const { way } = await begin();
      if ("whyNone" in way) return expect(way.whyNone).not.toBe("");
      way.stall();
      const interrupted = { kind: "failed", error: expect.stringContaining("interrupted") };
      const controller = new AbortController();
      const sending = send(outgoing(), controller.signal);
      await expect.poll(way.connections, PATIENCE).toBeGreaterThan(0);
      const start = performance.now();
      controller.abort();
      expect(await sending).toMatchObject(interrupted);
      expect(await send(outgoing(), controller.signal)).toMatchObject(interrupted);
      expect(performance.now() - start).toBeLessThan(SLACK_MS);
    });

    it("close waits for what is being sent, and then keeps no connection open", async () => {
      const { way, courier, received } = await begin();
      const one = outgoing();
      const sending = send(one);
      await courier.close();
      expect(await sending).toMatchObject({ kind: "accepted" });
      if (!("whyNone" in way)) await expect.poll(way.connections, PATIENCE).toBe(0);
      expect(await received()).toEqual([{ id: one.deliveryId, body: one.body }]);
      expect(await send(outgoing())).toMatchObject({ kind: "failed" });
    });
  });
}
