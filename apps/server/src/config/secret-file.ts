import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "./config.ts";

/** The configured secrets; without any, one that is made on first use and kept in the data folder, for its owner only. */
export function secretsFor({ secrets, dataFolder, database }: Config): string[] {
  if (secrets.length > 0) return secrets;
  if (database.kind === "memory") return [randomBytes(32).toString("base64url")];
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  const file = join(dataFolder, "secret");
  try {
    // Fails when the file is there: two processes that start together end up with one secret.
    writeFileSync(file, randomBytes(32).toString("base64url"), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return [readFileSync(file, "utf8").trim()];
}
