import { createHash, hkdfSync } from "node:crypto";

/** One key with a name that can be stored beside what it made. */
export interface NamedKey {
  id: string;
  bytes: Buffer;
}

/**
 * Derives the keys for one purpose from the server's secrets, newest first. The first makes, all of them open: a secret is
 * rotated by putting a new one in front.
 */
export function deriveKeys(secrets: readonly string[], purpose: string): [NamedKey, ...NamedKey[]] {
  const [newest, ...older] = secrets.map((secret) => deriveKey(secret, purpose));
  if (newest === undefined) throw new Error("at least one secret is needed");
  return [newest, ...older];
}

function deriveKey(secret: string, purpose: string): NamedKey {
  const bytes = Buffer.from(hkdfSync("sha256", secret, "formbridge", purpose, 32));
  return { id: createHash("sha256").update(bytes).digest("hex").slice(0, 8), bytes };
}
