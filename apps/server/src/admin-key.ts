import { type ApiKey, type Backend, DEFAULT_TENANT, type Keys, type Operations, sha256 } from "@formbridge/core";

const ADMIN = { kind: "human", id: "admin" } as const;

/** The admin API key from the settings: valid as long as it is set, and never stored. */
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

/** The API key of a local agent, which can read the data anyway: always the same actor, never stored. */
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

/** Makes sure that an admin key exists. Returns a newly created one, to be shown only once. */
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
