import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { claimFile, type Ownership } from "@formbridge/store-sqlite";
import type { Config } from "./config/config.ts";
import { ConfigError } from "./config/reader.ts";

/**
 * How to reach the process that serves a database file. Readable only by its own user, who can read the data anyway.
 */
export interface ServerAddress {
  url: string;
  /** Whether `/mcp` is served. */
  agents: boolean;
  /** The API key for the agent on this machine, valid while the server runs. */
  key: string;
}

/** One process's claim on the database file that it serves. */
export interface FileOwner extends Ownership {
  /** Lets `formbridge mcp` find this server. */
  publish(address: ServerAddress): void;
}

const addressFile = (file: string): string => `${file}.server`;

/** Undefined if another process serves the file. Stores that several processes can share need no owner. */
export function claimStore({ database }: Config): FileOwner | "not needed" | undefined {
  if (database.kind !== "sqlite") return "not needed";
  const { file } = database;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const ownership = claimFile(file);
  if (ownership === undefined) return undefined;
  const forget = (): void => rmSync(addressFile(file), { force: true });
  // Left behind by a process that was killed.
  forget();
  return {
    publish(address) {
      const next = `${addressFile(file)}.next`;
      writeFileSync(next, JSON.stringify(address), { mode: 0o600 });
      renameSync(next, addressFile(file));
    },
    release() {
      forget();
      ownership.release();
    },
  };
}

/** Absent while the server is starting. Only valid while some process owns the file. */
export function publishedAddress({ database }: Config): ServerAddress | undefined {
  if (database.kind !== "sqlite") return undefined;
  try {
    return JSON.parse(readFileSync(addressFile(database.file), "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** A server that listens on all interfaces is reached by loopback, a name that `/mcp` always accepts. */
export function urlOnThisMachine(url: string): string {
  const local = new URL(url);
  if (["0.0.0.0", "[::]"].includes(local.hostname)) local.hostname = "127.0.0.1";
  return local.origin;
}

export function alreadyServed(config: Config): ConfigError {
  const { database } = config;
  const url = publishedAddress(config)?.url;
  return new ConfigError(
    `Another process${url === undefined ? "" : `, at ${url},`} already uses ${database.kind === "sqlite" ? database.file : ""}. ` +
      "Only one process can use a SQLite file. Stop that one, set another FORMBRIDGE_DATA, or use PostgreSQL for several servers.",
  );
}
