import { AuthenticatorDown } from "@formbridge/core";
import { errors, exportJWK, generateKeyPair } from "jose";
import { beforeEach, expect, it } from "vitest";
import { type KeySet, readKeySet } from "./key-set.ts";
import { createKeySource } from "./key-source.ts";

const TIMES = { cooldownMs: 30_000, maxAgeMs: 600_000, staleMs: 3_600_000 };
const { publicKey } = await generateKeyPair("ES256", { extractable: true });
const jwk = await exportJWK(publicKey);
const setOf = (...kids: string[]): KeySet => readKeySet({ keys: kids.map((kid) => ({ ...jwk, kid, alg: "ES256" })) });

let time: number;
let loads: number;
let troubles: unknown[];
let answer: () => Promise<KeySet>;
beforeEach(() => {
  time = 1_000_000;
  loads = 0;
  troubles = [];
  answer = async () => setOf("a");
});

function open() {
  const find = createKeySource({
    ...TIMES,
    now: () => time,
    onTrouble: (error) => troubles.push(error),
    load: () => {
      loads += 1;
      return answer();
    },
  });
  // The second argument is the token, which key selection ignores.
  return (kid?: string) => find({ alg: "ES256", ...(kid !== undefined && { kid }) }, { payload: "", signature: "" });
}
const down = async (): Promise<KeySet> => {
  throw new Error("out of reach");
};
const unknown = errors.JWKSNoMatchingKey;

it("fetches once for many tokens, even concurrent ones", async () => {
  const find = open();
  await Promise.all(Array.from({ length: 50 }, () => find("a")));
  await find();
  expect(loads).toBe(1);
});

it("fetches again for an unknown key, once per cool-down, whatever the tokens name", async () => {
  const find = open();
  await find("a");
  for (const kid of ["b", "c", "d"]) await expect(find(kid)).rejects.toThrow(unknown);
  expect(loads).toBe(1);
  time += TIMES.cooldownMs;
  await Promise.all(["b", "c", "d"].map((kid) => expect(find(kid)).rejects.toThrow(unknown)));
  expect(loads).toBe(2);
  time += TIMES.cooldownMs - 1;
  await expect(find("e")).rejects.toThrow(unknown);
  expect(loads).toBe(2);
});

it("finds a key that was added after the cool-down, and forgets a removed one", async () => {
  const find = open();
  await find("a");
  answer = async () => setOf("b");
  time += TIMES.cooldownMs;
  await find("b");
  await expect(find("a")).rejects.toThrow(unknown);
  expect(loads).toBe(2);
});

it("fetches old keys again before it uses them", async () => {
  const find = open();
  await find("a");
  answer = async () => setOf("b");
  time += TIMES.maxAgeMs;
  await expect(find("a")).rejects.toThrow(unknown);
  expect(loads).toBe(2);
});

it("continues with old keys when the issuer is down, fetches once per cool-down, and not forever", async () => {
  const find = open();
  await find("a");
  answer = down;
  time += TIMES.maxAgeMs;
  await find("a");
  await find("a");
  expect([loads, troubles.length]).toEqual([2, 1]);
  time += TIMES.cooldownMs;
  await find("a");
  expect(loads).toBe(3);
  time += TIMES.staleMs;
  await expect(find("a")).rejects.toThrow(AuthenticatorDown);
});

it("keeps its keys when an unknown one can't be fetched", async () => {
  const find = open();
  await find("a");
  answer = down;
  time += TIMES.cooldownMs;
  await expect(find("b")).rejects.toThrow(unknown);
  await find("a");
  expect(troubles).toHaveLength(1);
});

it("without any key reports so and when to retry, and fetches once a second at most", async () => {
  const find = open();
  answer = down;
  await expect(find("a")).rejects.toMatchObject({ name: "AuthenticatorDown", retryAfterMs: 1_000 });
  time += 400;
  await expect(find("a")).rejects.toMatchObject({ retryAfterMs: 600 });
  expect(loads).toBe(1);
  answer = async () => setOf("a");
  time += 600;
  await find("a");
  expect(loads).toBe(2);
});

it("does not wait longer because a clock was set back", async () => {
  const find = open();
  await find("a");
  answer = async () => setOf("b");
  time -= 86_400_000;
  await find("b");
  expect(loads).toBe(2);
});

it("does not guess which key a token without a key id means", async () => {
  const find = open();
  answer = async () => setOf("a", "b");
  await expect(find()).rejects.toThrow(errors.JWKSMultipleMatchingKeys);
  expect(loads).toBe(1);
});
