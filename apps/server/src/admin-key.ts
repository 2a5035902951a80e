import {
  type ApiKey,
  type Backend,
  DEFAULT_TENANT,
  type Hash,
  type Keys,
  type Operations,
  sha256,
} from "@formbridge/core";

const ADMIN = { kind: "human", id: "admin" } as const;

/** The keys with one more, which is valid as long as this process runs and never stored. */
function withKey(
  keys: Keys,
  secret: string | undefined,
  keyFor: (hash: Hash) => Pick<ApiKey, "keyId" | "name" | "roles" | "actor">,
): Keys {
  if (secret === undefined) return keys;
  const hash = sha256(secret);
  const key: ApiKey = { ...keyFor(hash), hash, tenant: DEFAULT_TENANT, createdAt: 0 };
  return { ...keys, find: async (wanted) => (wanted === hash ? key : await keys.find(wanted)) };
}

/** The admin API key from the settings: valid as long as it is set. */
export const withPresetKey = (keys: Keys, preset: string | undefined): Keys =>
  withKey(keys, preset, (hash) => ({
    keyId: `key_preset_${hash.slice(0, 16)}`,
    name: "Preset admin",
    roles: ["admin"],
    actor: ADMIN,
  }));

/** The API key of a local agent, which can read the data anyway: always the same actor. */
export const withLocalAgent = (keys: Keys, secret: string | undefined): Keys =>
  withKey(keys, secret, () => ({
    keyId: "key_local_agent",
    name: "Local agent",
    roles: ["agent"],
    actor: { kind: "agent", id: "local-agent" },
  }));

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
