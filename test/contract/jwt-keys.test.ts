import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type JwtScene, startJwtScene } from "../support/jwt-server.ts";

const COOLDOWN = 30_000;
const MAX_AGE = 600_000;

let scene: JwtScene;
beforeEach(async () => {
  scene = await startJwtScene({ env: { FORMBRIDGE_JWKS_TIMEOUT_MS: "200" } });
});
afterEach(() => scene.stop());

const status = async (key: Promise<string> | string): Promise<number> =>
  (await scene.server.call("GET", "/submissions", { key: await key })).status;
/** A token that outlives every wait of these tests. */
const token = (kid?: string): Promise<string> =>
  scene.token("viewer", {
    claims: { exp: scene.server.clock.now() / 1000 + 900_000 },
    ...(kid !== undefined && { header: { kid } }),
  });

it("[JWT-KEYS-CACHED] many tokens, also at once, are one fetch", async () => {
  expect(scene.issuer.fetches()).toBe(0);
  const keys = await Promise.all(Array.from({ length: 20 }, () => token()));
  expect(new Set(await Promise.all(keys.map(status)))).toEqual(new Set([200]));
  scene.server.clock.advance(MAX_AGE - 1);
  expect(await status(token())).toBe(200);
  expect(scene.issuer.fetches()).toBe(1);
});

it("[JWT-KEYS-UNKNOWN] however many unknown keys are named, the issuer is asked once per cool-down", async () => {
  expect(await status(token())).toBe(200);
  for (let kid = 0; kid < 10; kid++) expect(await status(token(`none-${kid}`))).toBe(401);
  expect(scene.issuer.fetches()).toBe(1);
  for (let turn = 2; turn < 5; turn++) {
    scene.server.clock.advance(COOLDOWN);
    const strangers = Array.from({ length: 10 }, (_, kid) => status(token(`none-${kid}`)));
    expect(new Set(await Promise.all(strangers))).toEqual(new Set([401]));
    expect(await status(token("none"))).toBe(401);
    expect(scene.issuer.fetches()).toBe(turn);
  }
});

it("[JWT-KEYS-ROTATED] a new key is found when a token names it, and the withdrawn one stops working", async () => {
  const before = await token();
  expect(await status(before)).toBe(200);
  await scene.issuer.rotate();
  scene.server.clock.advance(COOLDOWN);
  // Until a token names the new key, or the old ones are too old, they are used.
  expect(await status(before)).toBe(200);
  expect(await status(token())).toBe(200);
  expect(scene.issuer.fetches()).toBe(2);
  expect(await status(before)).toBe(401);
});

it("[JWT-KEYS-ROTATED] a withdrawn key stops working when it is too old, even if no token names a new one", async () => {
  const before = await token();
  expect(await status(before)).toBe(200);
  await scene.issuer.rotate();
  scene.server.clock.advance(MAX_AGE);
  expect(await status(before)).toBe(401);
});

it("[JWT-KEYS-ROTATED] a rotation to another algorithm works too", async () => {
  for (const alg of ["RS256", "PS256", "EdDSA", "ES384"]) {
    await scene.issuer.rotate(alg);
    scene.server.clock.advance(COOLDOWN);
    expect([alg, await status(token())]).toEqual([alg, 200]);
  }
});

it("[JWT-KEYS-OUTAGE] known keys keep working while the issuer fails, and it is asked once per cool-down", async () => {
  expect(await status(token())).toBe(200);
  scene.issuer.answer((_, response) => response.writeHead(500).end());
  scene.server.clock.advance(MAX_AGE);
  for (let use = 0; use < 5; use++) expect(await status(token())).toBe(200);
  expect(scene.issuer.fetches()).toBe(2);
  expect(await status(token("unknown"))).toBe(401);
  await scene.issuer.stop();
  scene.server.clock.advance(COOLDOWN);
  expect(await status(token())).toBe(200);
});

it("[JWT-KEYS-OUTAGE] a response without keys removes none", async () => {
  expect(await status(token())).toBe(200);
  for (const body of ['{"keys":[]}', "<html>", "[]", '{"keys":[{"kty":"oct","k":"AAAA"}]}']) {
    scene.issuer.answer((_, response) => response.end(body));
    scene.server.clock.advance(MAX_AGE);
    expect(await status(token())).toBe(200);
  }
  expect(scene.issuer.fetches()).toBe(5);
});

it("[JWT-KEYS-OUTAGE] keys that were not confirmed for a day are no longer used", async () => {
  expect(await status(token())).toBe(200);
  const lasting = await token();
  await scene.issuer.stop();
  scene.server.clock.advance(MAX_AGE + 86_400_000 - 1);
  expect(await status(lasting)).toBe(200);
  scene.server.clock.advance(1);
  expect(await status(lasting)).toBe(503);
});

it("[JWT-KEYS-NONE] without keys an unreachable issuer is a retryable 503, and soon after it is back tokens work", async () => {
  scene.issuer.answer((_, response) => response.writeHead(503).end());
  const reply = await scene.server.call("GET", "/submissions", { key: await token() });
  expect([reply.status, reply.body.error.type, reply.body.error.retryable]).toEqual([503, "service_unavailable", true]);
  expect(reply.headers["retry-after"]).toBe("1");
  expect(JSON.stringify(reply.body)).not.toContain(scene.issuer.url);
  expect(await status(token())).toBe(503);
  expect(scene.issuer.fetches()).toBe(1);
  // A caller with an API key does not depend on the issuer.
  expect(await status(scene.server.adminKey)).toBe(200);
  expect((await scene.server.call("GET", "/readyz")).status).toBe(200);
  scene.issuer.answer(undefined);
  scene.server.clock.advance(1_000);
  expect(await status(token())).toBe(200);
});

it("[JWT-KEYS-NONE] an issuer that times out is treated as down", async () => {
  scene.issuer.answer(() => {});
  expect(await status(token())).toBe(503);
  scene.issuer.answer((_, response) => response.write('{"keys":['));
  scene.server.clock.advance(1_000);
  expect(await status(token())).toBe(503);
});

it("[JWT-KEYS-PLACE] a redirect is not followed, and an endless response is not read", async () => {
  const paths: (string | undefined)[] = [];
  scene.issuer.answer((request, response) => {
    paths.push(request.url);
    if (request.url === "/elsewhere") response.end(JSON.stringify(scene.issuer.jwks()));
    else response.writeHead(302, { location: `${scene.issuer.url}/elsewhere` }).end();
  });
  expect(await status(token())).toBe(503);
  expect(paths).toEqual(["/jwks"]);
  const { keys } = scene.issuer.jwks();
  scene.issuer.answer((_, response) => response.end(JSON.stringify({ keys, filler: "x".repeat(2_000_000) })));
  scene.server.clock.advance(1_000);
  expect(await status(token())).toBe(503);
});

it("[JWT-KEYS-FILE] keys from a file need no reachable issuer, and a new key in it is found", async () => {
  const folder = mkdtempSync(join(tmpdir(), "formbridge-jwks-"));
  const jwksFile = join(folder, "jwks.json");
  const write = (): void => writeFileSync(jwksFile, JSON.stringify(scene.issuer.jwks()));
  write();
  const local = await startJwtScene({ settings: { issuer: scene.issuer.url, jwksUri: undefined, jwksFile } });
  try {
    const use = async () => (await local.server.call("GET", "/submissions", { key: await token() })).status;
    expect(await use()).toBe(200);
    await scene.issuer.rotate();
    write();
    local.server.clock.advance(COOLDOWN);
    expect(await use()).toBe(200);
    expect([scene.issuer.fetches(), local.issuer.fetches()]).toEqual([0, 0]);
  } finally {
    await local.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
