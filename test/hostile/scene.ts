import type { Operation, Operations } from "./operations.ts";
import type { Expectation } from "./oracle.ts";
import type { Random } from "./random.ts";
import type { WireRequest } from "./wire.ts";
import type { World } from "./world.ts";

export interface Case {
  kind: string;
  request: WireRequest;
  expectation: Expectation;
  /** The same call for something that doesn't exist: its response must be identical, to the byte. */
  twin?: WireRequest;
}

/** What a case is made from. */
export interface Scene {
  world: World;
  operations: Operations;
  random: Random;
}

export const bytes = (body: unknown): Buffer => Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
export const bearer = (key: string): readonly ["Authorization", string] => ["Authorization", `Bearer ${key}`];
export const takesRef = ({ template }: Operation): boolean => template.includes("{ref}");
export const isByToken = ({ template }: Operation): boolean => template.startsWith("/resume");
export const knows = ({ body }: Operation, name: string): boolean =>
  name in ((body?.schema.properties as object | undefined) ?? {});

/** A page token: of this list or another one, tampered with, or wrongly signed. */
export function pageToken({ pageTokens }: World, random: Random): string {
  const { token } = random.pick(pageTokens);
  const [head = "", payload = "", signature = ""] = token.split(".");
  const none = Buffer.from(JSON.stringify({ alg: "none", typ: "JWT" })).toString("base64url");
  const forged = Buffer.from(
    JSON.stringify({ list: "submissions", query: { limit: "9" }, after: "0", exp: 9e9 }),
  ).toString("base64url");
  return random.pick([
    token,
    token,
    token.slice(0, -2),
    `${head}.${forged}.${signature}`,
    `${none}.${payload}.`,
    `${none}.${forged}.`,
    `${head}..${signature}`,
    "..",
  ]);
}
