import { expect, it } from "vitest";
import { readConfig } from "../src/config/config.ts";

const deliveryWith = (env: Record<string, string>) =>
  readConfig({ FORMBRIDGE_DATABASE_URL: "memory:", ...env }).delivery;

it("by default, an attempt has 15 seconds, and private targets are refused", () => {
  expect(deliveryWith({})).toEqual({ timeoutMs: 15_000, allowPrivate: false });
});

it("both can be set", () => {
  const env = { FORMBRIDGE_DELIVERY_TIMEOUT_MS: "500", FORMBRIDGE_ALLOW_PRIVATE_TARGETS: "true" };
  expect(deliveryWith(env)).toEqual({ timeoutMs: 500, allowPrivate: true });
});

it("[RUNNING-CLI-BAD-SETTING] an attempt that could outlive the lease of its job is refused, and so is an invalid switch", () => {
  expect(() => deliveryWith({ FORMBRIDGE_DELIVERY_TIMEOUT_MS: "60000" })).toThrow(
    'FORMBRIDGE_DELIVERY_TIMEOUT_MS is "60000"; it takes less than FORMBRIDGE_JOB_LEASE_MS.',
  );
  expect(() => deliveryWith({ FORMBRIDGE_ALLOW_PRIVATE_TARGETS: "maybe" })).toThrow("FORMBRIDGE_ALLOW_PRIVATE_TARGETS");
});
