import type { Keys } from "@formbridge/core";
import { answer, type Tables } from "./tables.ts";

export function createKeys(tables: Tables): Keys {
  const withHash = (hash: string) => [...tables.keys.values()].find(({ key }) => key.hash === hash);
  return {
    find: (hash) =>
      answer(tables, () => {
        const found = withHash(hash);
        if (found === undefined || found.revoked) return undefined;
        const { expiresAt } = found.key;
        return expiresAt === undefined || tables.now() < expiresAt ? found.key : undefined;
      }),
    get: ({ tenant, keyId }) =>
      answer(tables, () => {
        const found = tables.keys.get(keyId);
        return found === undefined || found.revoked || found.key.tenant !== tenant ? undefined : found.key;
      }),
    add: (key) =>
      answer(tables, () => {
        if (tables.keys.has(key.keyId) || withHash(key.hash) !== undefined) return false;
        tables.keys.set(key.keyId, { key: structuredClone(key), revoked: false });
        return true;
      }),
    list: ({ tenant, after = "" }, limit) =>
      answer(tables, () =>
        [...tables.keys.values()]
          .filter(({ key, revoked }) => !revoked && key.tenant === tenant && key.keyId > after)
          .map(({ key }) => key)
          .sort((a, b) => (a.keyId < b.keyId ? -1 : 1))
          .slice(0, limit),
      ),
    count: ({ tenant }, atMost) =>
      answer(tables, () => {
        const found = [...tables.keys.values()].filter(({ key, revoked }) => !revoked && key.tenant === tenant);
        return Math.min(atMost, found.length);
      }),
    revoke: ({ tenant, keyId }) =>
      answer(tables, () => {
        const found = tables.keys.get(keyId);
        if (found === undefined || found.revoked || found.key.tenant !== tenant) return false;
        found.revoked = true;
        const { actor } = found.key;
        found.key = { ...found.key, name: "", actor: { kind: actor.kind, id: "" } };
        return true;
      }),
  };
}
