import type { Backend, Sealed, SealedRows, Sealer, SecretChecks } from "@formbridge/core";
import { ConfigError } from "./config/reader.ts";
import { lostValues } from "./reseal-store.ts";

/** The content of a check, and what it is bound to. */
const BOUND = "secret check";

const keyOf = (sealed: Sealed): string => sealed.slice(0, sealed.indexOf("."));

function opens(sealer: Sealer, check: Sealed): boolean {
  try {
    return sealer.open(check, BOUND) === BOUND;
  } catch {
    return false;
  }
}

/** Whether the sealer has every secret that data may be sealed with. */
export const opensAll = (checks: readonly Sealed[], sealer: Sealer): boolean =>
  checks.every((check) => opens(sealer, check));

/** Refuses to start without a secret that stored data may be sealed with. */
function refuseOtherSecret(checks: readonly Sealed[], sealer: Sealer): void {
  const opened = checks.filter((check) => opens(sealer, check));
  if (opened.length === checks.length) return;
  throw new ConfigError(
    opened.length === 0
      ? "This database was sealed with a different secret. Set FORMBRIDGE_SECRET to that one, or restore the file " +
          "`secret` of the data folder from a backup."
      : "Part of this database was sealed with a secret that this server doesn't have. Add it to FORMBRIDGE_SECRET, separated by a " +
          "comma: the first secret seals, all of them open.",
  );
}

/**
 * Runs at every start. The store has a check for each secret that was ever a server's first one, since only the first
 * seals. A server must be able to open all checks; if it is the first to seal with its own secret, it adds a check
 * before it serves.
 */
export async function checkSecret(secretChecks: SecretChecks, sealer: Sealer): Promise<void> {
  for (;;) {
    const checks = await secretChecks.list();
    refuseOtherSecret(checks, sealer);
    const own = sealer.seal(BOUND, BOUND);
    if (checks.some((check) => keyOf(check) === keyOf(own))) return;
    if (await secretChecks.replace([...checks, own], checks)) return;
  }
}

/**
 * Drops the checks of secrets that this configuration no longer has. Refuses while values are sealed with them, unless
 * those may be lost.
 */
export async function retireSecrets(
  { secretChecks, sealedRows }: Pick<Backend, "secretChecks" | "sealedRows">,
  sealer: Sealer,
  { losing }: { losing: boolean },
): Promise<void> {
  for (;;) {
    const checks = await secretChecks.list();
    const kept = checks.filter((check) => opens(sealer, check));
    if (checks.length > 0 && kept.length === 0) refuseOtherSecret(checks, sealer);
    if (kept.length === checks.length) return;
    if (!losing) await refuseSealed(sealedRows, sealer);
    if (await secretChecks.replace(kept, checks)) return;
  }
}

async function refuseSealed(rows: SealedRows, sealer: Sealer): Promise<void> {
  const lost = await lostValues(rows, sealer);
  if (lost.size === 0) return;
  const counts = [...lost].map(([kind, count]) => `${kind}: ${count}`).join(", ");
  throw new ConfigError(
    `Values are still sealed with a secret that FORMBRIDGE_SECRET no longer has (${counts}). Add it again behind the first one, ` +
      "run formbridge secrets reseal, remove it, and retire it then. If the secret is lost, formbridge secrets retire " +
      "--lose-sealed gives these values up.",
  );
}
