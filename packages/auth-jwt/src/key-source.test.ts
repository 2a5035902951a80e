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

it("asks once for many tokens, also when they come together", async () => {
  const find = open();
  await Promise.all(Array.from({ length: 50 }, () => find("a")));
  await find();
  expect(loads).toBe(1);
});

it("asks again for a key that it does not know, once in a cool-down, whatever the tokens name", async () => {
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

it("finds a key that came after the cool-down, and forgets the one that went", async () => {
  const find = open();
  await find("a");
  answer = async () => setOf("b");
  time += TIMES.cooldownMs;
  await find("b");
  await expect(find("a")).rejects.toThrow(unknown);
  expect(loads).toBe(2);
});

it("asks anew for keys that are old before it uses them", async () => {
  const find = open();
  await find("a");
  answer = async () => setOf("b");
  time += TIMES.maxAgeMs;
  await expect(find("a")).rejects.toThrow(unknown);
  expect(loads).toBe(2);
});

it("goes on with old keys when nobody answers, asks once in a cool-down, and not for ever", async () => {
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

it("keeps its keys when an unknown one can't be asked for", async () => {
  const find = open();
  await find("a");
  answer = down;
  time += TIMES.cooldownMs;
  await expect(find("b")).rejects.toThrow(unknown);
  await find("a");
  expect(troubles).toHaveLength(1);
});

it("without any key says so and when to come again, and asks once a second at most", async () => {
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

it("does not rest for the length that a clock was set back", async () => {
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
