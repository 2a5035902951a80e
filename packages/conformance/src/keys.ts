import { describe, expect, it } from "vitest";
import { newApiKey, TENANT } from "./fixtures.ts";
import { type OpenBackend, useBackend } from "./harness.ts";

export function describeKeys(open: OpenBackend): void {
  describe("keys", () => {
    const subject = useBackend(open);

    it("are found by their hash, exactly as added", async () => {
      const { keys, clock } = subject();
      const key = newApiKey({
        intakes: ["contact"],
        actsFor: ["*"],
        expiresAt: clock.now() + 10,
        createdAt: clock.now(),
      });
      expect(await keys.find(key.hash)).toBeUndefined();
      expect(await keys.add(key)).toBe(true);
      expect(await keys.find(key.hash)).toEqual(key);
    });

    it("are absent from their expiry on, by the store's clock", async () => {
      const { keys, clock } = subject();
      const key = newApiKey({ expiresAt: clock.now() + 10 });
      await keys.add(key);
      clock.advance(9);
      expect(await keys.find(key.hash)).toBeDefined();
      expect(await keys.get({ tenant: TENANT, keyId: key.keyId })).toEqual(key);
      expect(await keys.get({ tenant: "other", keyId: key.keyId })).toBeUndefined();
      clock.advance(1);
      expect(await keys.find(key.hash)).toBeUndefined();
    });

    it("one with a known hash or id is not changed", async () => {
      const { keys } = subject();
      const key = newApiKey();
      await keys.add(key);
      expect(await keys.add(newApiKey({ hash: key.hash, name: "other" }))).toBe(false);
      expect(await keys.add(newApiKey({ keyId: key.keyId, name: "other" }))).toBe(false);
      expect(await keys.list({ tenant: TENANT }, 10)).toEqual([key]);
    });

    it("revoke once, for good, and by their own tenant only", async () => {
      const { keys } = subject();
      const key = newApiKey();
      await keys.add(key);
      expect(await keys.revoke({ tenant: "other", keyId: key.keyId })).toBe(false);
      expect(await keys.find(key.hash)).toBeDefined();
      expect(await keys.revoke({ tenant: TENANT, keyId: key.keyId })).toBe(true);
      expect(await keys.revoke({ tenant: TENANT, keyId: key.keyId })).toBe(false);
      expect(await keys.find(key.hash)).toBeUndefined();
      expect(await keys.get({ tenant: TENANT, keyId: key.keyId })).toBeUndefined();
      expect(await keys.add(key)).toBe(false);
      expect(await keys.find(key.hash)).toBeUndefined();
    });

    it("list by id, page by page, without revoked ones and other tenants'", async () => {
      const { keys } = subject();
      const [a, b, c, d] = [newApiKey(), newApiKey(), newApiKey({ tenant: "other" }), newApiKey()];
      for (const key of [d, c, b, a]) await keys.add(key);
      await keys.revoke({ tenant: TENANT, keyId: b.keyId });
      expect(await keys.list({ tenant: TENANT }, 10)).toEqual([a, d]);
      expect(await keys.list({ tenant: TENANT }, 1)).toEqual([a]);
      expect(await keys.list({ tenant: TENANT, after: a.keyId }, 10)).toEqual([d]);
      expect(await keys.count({ tenant: TENANT }, 10)).toBe(2);
      expect(await keys.count({ tenant: TENANT }, 1)).toBe(1);
    });
  });
}
