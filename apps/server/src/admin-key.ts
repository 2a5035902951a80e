import { type ApiKey, type Backend, DEFAULT_TENANT, type Operations, sha256 } from "@formbridge/core";

const PRESET = "key_preset_";
const ADMIN = { kind: "human", id: "admin" } as const;

/** Makes sure that there is an admin key. Answers the one that was made, to be shown this once. */
export async function ensureAdminKey(
  { operations, backend }: { operations: Operations; backend: Backend },
  preset: string | undefined,
): Promise<string | undefined> {
  const keys = await backend.keys.list({ tenant: DEFAULT_TENANT }, 10_000);
  if (preset !== undefined) {
    await keepOnly(backend, keys, preset);
    return undefined;
  }
  if (keys.some((key) => key.roles.includes("admin"))) return undefined;
  const request = { name: "First admin", roles: ["admin" as const], actor: ADMIN };
  const { key } = await operations.issueKey(request, DEFAULT_TENANT);
  return key;
}

/** A preset key takes the place of the preset before it. */
async function keepOnly(backend: Backend, keys: ApiKey[], preset: string): Promise<void> {
  const hash = sha256(preset);
  const keyId = PRESET + hash.slice(0, 16);
  for (const key of keys) {
    if (key.keyId.startsWith(PRESET) && key.keyId !== keyId) {
      await backend.keys.revoke({ tenant: DEFAULT_TENANT, keyId: key.keyId });
    }
  }
  await backend.keys.add({
    keyId,
    hash,
    tenant: DEFAULT_TENANT,
    name: "Preset admin",
    roles: ["admin"],
    actor: ADMIN,
    createdAt: await backend.deadlines.now(),
  });
}
