import fc from "fast-check";
import { type JWTPayload, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { ContractError } from "../domain/error.ts";
import { createPageTokens } from "./page-tokens.ts";
import { deriveKeys } from "./secrets.ts";
import { createUploadGrants, type UploadGrant } from "./upload-grants.ts";

const SECRETS = ["a secret of this test", "an older secret of this test"];
const NOW = Date.parse("2026-03-01T12:00:00.000Z");
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. \0é";

/** What is added: a letter, and characters that decoders skip or split at. */
const ADDED = "A=.";

/** Every text that differs from a token by one changed, added or removed character, from a position on. */
function* oneCharacterAway(token: string, from: number): Generator<string> {
  for (let place = from; place <= token.length; place++) {
    const [before, after] = [token.slice(0, place), token.slice(place + 1)];
    for (const character of ADDED) yield before + character + token.slice(place);
    if (place === token.length) return;
    yield before + after;
    for (const character of ALPHABET) if (token[place] !== character) yield before + character + after;
  }
}

async function passing(changes: Iterable<string>, open: (text: string) => Promise<unknown>): Promise<string[]> {
  const passed: string[] = [];
  for (const changed of new Set(changes)) {
    const outcome = await open(changed).catch((error: unknown) => error);
    if (!(outcome instanceof ContractError)) passed.push(changed);
  }
  return passed;
}

const SCOPE = { list: "submissions", holder: { tenant: "default", keyId: "key_1" } };
const POSITION = {
  query: { state: "draft", limit: "5" },
  after: "sub_1",
  cursor: 5,
  total: { count: 12, isEstimate: false },
};

describe("page tokens", () => {
  const tokens = createPageTokens(SECRETS, 60_000);
  const open = (text: string) => tokens.open(text, SCOPE, NOW);
  const signed = async (after: string) => (await tokens.sign(SCOPE, { ...POSITION, after }, NOW)).token;

  it("a token opens to what was signed, until its expiry", async () => {
    const { token, expiresAt } = await tokens.sign(SCOPE, POSITION, NOW);
    expect(expiresAt).toBe(NOW + 60_000);
    expect(await open(token)).toEqual(POSITION);
    expect(await tokens.open(token, SCOPE, expiresAt - 1000)).toEqual(POSITION);
    await expect(tokens.open(token, SCOPE, expiresAt)).rejects.toMatchObject({ type: "bad_request" });
  });

  it("[AUDIT-F12] any one-character change, addition or removal is refused", async () => {
    const token = await signed("sub_1");
    expect(await open(token)).toMatchObject({ after: "sub_1" });
    expect(await passing(oneCharacterAway(token, 0), open)).toEqual([]);
  });

  it("[AUDIT-F12] every other last character is refused, whatever the signature", async () => {
    for (let round = 0; round < 100; round++) {
      const token = await signed(`sub_${round}`);
      const others = [...ALPHABET].filter((character) => character !== token.at(-1));
      for (const character of others) {
        await expect(open(token.slice(0, -1) + character)).rejects.toMatchObject({ type: "bad_request" });
      }
    }
  });

  it("[LISTS-TOKEN-TAMPERED] whatever a token says, one changed character is refused", async () => {
    const text = fc.string({ unit: "binary", maxLength: 30 });
    const position = fc.record({
      query: fc.dictionary(fc.constantFrom("state", "createdBy", "intakeId", "from"), text),
      after: text,
      cursor: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(position, fc.nat(), fc.constantFrom(...ALPHABET), async (given, place, character) => {
        const { token } = await tokens.sign(SCOPE, given, NOW);
        expect(await open(token)).toEqual(given);
        const at = place % token.length;
        fc.pre(token[at] !== character);
        const changed = token.slice(0, at) + character + token.slice(at + 1);
        await expect(open(changed)).rejects.toMatchObject({ type: "bad_request" });
      }),
      { numRuns: 300 },
    );
  });

  it("a token of an older secret still opens; one of a key that is gone does not", async () => {
    const [newer = "", older = ""] = SECRETS;
    const { token } = await createPageTokens([older], 60_000).sign(SCOPE, POSITION, NOW);
    expect(await open(token)).toEqual(POSITION);
    const { open: openNew } = createPageTokens([newer], 60_000);
    await expect(openNew(token, SCOPE, NOW)).rejects.toMatchObject({ type: "bad_request" });
  });

  it("a token opens only for its list and holder", async () => {
    const token = await signed("sub_1");
    const { holder } = SCOPE;
    for (const other of [
      { ...SCOPE, list: "events" },
      { list: SCOPE.list },
      { ...SCOPE, holder: { ...holder, tenant: "acme" } },
      { ...SCOPE, holder: { ...holder, keyId: "key_2" } },
    ]) {
      await expect(tokens.open(token, other, NOW)).rejects.toMatchObject({ type: "bad_request" });
    }
  });

  it("a token of another version, algorithm or without an end is refused, though our key signed it", async () => {
    const [key] = deriveKeys(SECRETS, "page-token");
    const claimsOf = async () =>
      JSON.parse(Buffer.from((await signed("sub_1")).split(".")[1] ?? "", "base64url").toString());
    const sign = (claims: JWTPayload, alg = "HS256") =>
      new SignJWT(claims)
        .setProtectedHeader({ alg, kid: key.id })
        .sign(alg === "HS256" ? key.bytes : Buffer.concat([key.bytes, key.bytes]));
    const claims = await claimsOf();
    expect(await open(await sign(claims))).toEqual(POSITION);
    const { exp: _, ...endless } = claims;
    await expect(open(await sign(endless))).rejects.toMatchObject({ type: "bad_request" });
    await expect(open(await sign({ ...claims, ver: 2 }))).rejects.toMatchObject({ type: "bad_request" });
    await expect(open(await sign(claims, "HS512"))).rejects.toMatchObject({ type: "bad_request" });
  });
});

describe("signed upload URLs", () => {
  it("[AUDIT-F12] any one-character change of the signature is refused", async () => {
    const grants = createUploadGrants(SECRETS);
    const grant: UploadGrant = {
      tenant: "default",
      submissionId: "sub_1",
      uploadId: "upl_1",
      use: "put",
      sizeBytes: 1,
      mimeType: "text/plain",
      expiresAt: NOW,
    };
    const token = await grants.sign(grant);
    const expected = { uploadId: "upl_1", use: "put" } as const;
    expect(await grants.open(token, expected)).toMatchObject(grant);
    expect(
      await passing(oneCharacterAway(token, token.lastIndexOf(".")), (text) => grants.open(text, expected)),
    ).toEqual([]);
  });
});
