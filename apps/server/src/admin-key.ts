import { type ApiKey, type Backend, DEFAULT_TENANT, type Keys, type Operations, sha256 } from "@formbridge/core";

const ADMIN = { kind: "human", id: "admin" } as const;

/** The key that the operator has set: good as long as it is set, and stored nowhere. */
export function withPresetKey(keys: Keys, preset: string | undefined): Keys {
  if (preset === undefined) return keys;
  const hash = sha256(preset);
  const key: ApiKey = {
    keyId: `key_preset_${hash.slice(0, 16)}`,
    hash,
    tenant: DEFAULT_TENANT,
    name: "Preset admin",
    roles: ["admin"],
    actor: ADMIN,
    createdAt: 0,
  };
  return {
    ...keys,
    find: async (wanted) => (wanted === hash ? key : await keys.find(wanted)),
  };
}

/** What an agent on this machine works with, which has the data at hand anyway: always the same actor, stored nowhere. */
export function withLocalAgent(keys: Keys, secret: string | undefined): Keys {
  if (secret === undefined) return keys;
  const hash = sha256(secret);
  const key: ApiKey = {
    keyId: "key_local_agent",
    hash,
    tenant: DEFAULT_TENANT,
    name: "Local agent",
    roles: ["agent"],
    actor: { kind: "agent", id: "local-agent" },
    createdAt: 0,
  };
  return { ...keys, find: async (wanted) => (wanted === hash ? key : await keys.find(wanted)) };
}

/** Makes sure that somebody can administer. Answers the key that was made, to be shown this once. */
export async function ensureAdminKey(
  { operations, backend }: { operations: Operations; backend: Backend },
  preset: string | undefined,
): Promise<string | undefined> {
  if (preset !== undefined) return undefined;
  const keys = await backend.keys.list({ tenant: DEFAULT_TENANT }, 10_000);
  if (keys.some((key) => key.roles.includes("admin"))) return undefined;
  const request = { name: "First admin", roles: ["admin" as const], actor: ADMIN };
  const { key } = await operations.issueKey(request, DEFAULT_TENANT);
  return key;
}
