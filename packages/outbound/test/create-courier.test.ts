import { execFileSync } from "node:child_process";
import type { Destination } from "@formbridge/contract";
import { describe, expect, it } from "vitest";
import { type CallbackDelivery, createCourier } from "../src/index.ts";
import { outgoingTo, sendTo } from "./outgoing.ts";

describe("callbacks", () => {
  it("[COURIER-CALLBACK] the one that the destination names gets the delivery, without its secrets", async () => {
    const got: CallbackDelivery[] = [];
    const courier = createCourier({
      callbacks: { save: (delivery) => void got.push(delivery), other: () => Promise.reject() },
    });
    expect(await sendTo(courier, { kind: "callback", name: "save", secret: "s" })).toEqual({ kind: "accepted" });
    const { destination: _destination, secrets: _secrets, ...rest } = outgoingTo({ kind: "callback", name: "save" });
    expect(got).toEqual([{ ...rest, signal: expect.any(AbortSignal) }]);
  });

  it("[COURIER-CALLBACK] a throw or a rejection is a failure that may be retried, without what was thrown", async () => {
    const failing = [
      () => {
        throw new Error("secret");
      },
      () => Promise.reject(new Error("secret")),
    ];
    for (const save of failing) {
      const receipt = await sendTo(createCourier({ callbacks: { save } }), { kind: "callback", name: "save" });
      expect(receipt).toEqual({ kind: "failed", error: "The callback failed: it threw an error." });
    }
  });

  it("[COURIER-CALLBACK] an unregistered name fails permanently", async () => {
    for (const name of ["nobody", "constructor", "__proto__", "toString"]) {
      const receipt = await sendTo(createCourier(), { kind: "callback", name });
      expect(receipt).toEqual({
        kind: "failed",
        final: true,
        error: "The callback failed: no callback has this name.",
      });
    }
  });

  it("[COURIER-TIME-OUT] one that never ends is aborted, and fails in time", async () => {
    let told = false;
    const save = ({ signal }: CallbackDelivery) =>
      new Promise<void>(() => {
        signal.addEventListener("abort", () => {
          told = true;
        });
      });
    const courier = createCourier({ callbacks: { save }, timeoutMs: 50 });
    const receipt = await sendTo(courier, { kind: "callback", name: "save" });
    expect(receipt).toEqual({ kind: "failed", error: "The callback failed: it did not respond within 50 ms." });
    expect(told).toBe(true);
  });
});

describe("one courier for all", () => {
  it("does nothing for the store, which keeps submissions without it", async () => {
    expect(await sendTo(createCourier(), { kind: "store" })).toMatchObject({ kind: "failed", final: true });
  });

  it("fails permanently on an invalid URL, or one of another kind", async () => {
    const urls = [undefined, "", "nonsense", "file:///etc/passwd", "ftp://example.com/", "http://"];
    for (const url of urls) {
      for (const kind of ["webhook", "queue"] as const) {
        const destination = { kind, name: "orders", ...(url !== undefined && { url }) } as Destination;
        expect(await sendTo(createCourier(), destination)).toMatchObject({ kind: "failed", final: true });
      }
    }
  });

  it("clients are loaded when a destination needs them, and not before", () => {
    const script = `
      import { createRequire } from "node:module";
      const { createCourier } = await import("./packages/outbound/src/index.ts");
      createCourier();
      const loaded = Object.keys(createRequire(import.meta.url).cache);
      console.log(loaded.filter((file) => /amqplib|@nats-io|@redis|undici/.test(file)).length, loaded.some((file) => /standardwebhooks/.test(file)));`;
    const printed = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    expect(printed.trim()).toBe("0 true");
  });
});
