import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "./config.ts";
import { ConfigError } from "./reader.ts";

export const secretFile = ({ dataFolder }: Config): string => join(dataFolder, "secret");

/** Whether there is data but not the secret it was sealed with; a new one couldn't open it. */
export function isSecretLost(config: Config): boolean {
  const { secrets, database } = config;
  if (secrets.length > 0 || database.kind !== "sqlite") return false;
  const size = statSync(database.file, { throwIfNoEntry: false })?.size ?? 0;
  return size > 0 && !existsSync(secretFile(config));
}

export const lostSecret = (config: Config): ConfigError =>
  new ConfigError(
    `${secretFile(config)} is missing, but the database is sealed with a secret. Restore the file from a backup, or set ` +
      "FORMBRIDGE_SECRET to its content; to start over, set another FORMBRIDGE_DATA.",
  );

/**
 * The configured secrets; without any, one that is generated on first use and stored in the data folder, readable only
 * by its owner.
 */
export function secretsFor(config: Config): string[] {
  const { secrets, dataFolder, database } = config;
  if (secrets.length > 0) return secrets;
  if (isSecretLost(config)) throw lostSecret(config);
  if (database.kind === "memory") return [randomBytes(32).toString("base64url")];
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  const file = secretFile(config);
  try {
    // Fails if the file exists, so that two processes starting together use the same secret.
    writeFileSync(file, randomBytes(32).toString("base64url"), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return [readFileSync(file, "utf8").trim()];
}
