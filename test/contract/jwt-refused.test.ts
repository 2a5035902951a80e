import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportSPKI, importJWK } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Reply, startTestServer } from "../support/harness.ts";
import { forge, makeKey } from "../support/issuer.ts";
import { type JwtScene, startJwtScene } from "../support/jwt-server.ts";

let scene: JwtScene;
let wrongKey: Reply;
beforeAll(async () => {
  scene = await startJwtScene();
  wrongKey = await use(`fbk_${"x".repeat(43)}`);
});
afterAll(() => scene.stop());

const use = (key: string): Promise<Reply> => scene.server.call("GET", "/submissions", { key });
const seconds = (): number => Math.floor(scene.server.clock.now() / 1000);
const good = (claims: Record<string, unknown> = {}): Promise<string> => scene.token("admin", { claims });

/** The same status, body and headers as for a wrong key, except for what differs with each request. */
async function expectRefused(token: string): Promise<void> {
  const plain = ({ status, body, headers: { date, "x-request-id": id, ...headers } }: Reply) => ({
    status,
    body,
    headers,
  });
  expect(plain(await use(token))).toEqual(plain(wrongKey));
}

it("[JWT-REFUSED] a wrong key is a 401, and the valid token that the cases below modify is accepted", async () => {
  expect([wrongKey.status, wrongKey.body.error.type]).toEqual([401, "unauthorized"]);
  expect(wrongKey.headers["www-authenticate"]).toContain("Bearer");
  expect((await use(await good())).status).toBe(200);
});

it("[JWT-REFUSED] an invalid token is refused everywhere, even where none is needed", async () => {
  const key = await good({ aud: "another" });
  await scene.server.putIntake({ id: "open" });
  const replies = [
    await scene.server.call("POST", "/intakes/open/submissions", { key, body: {} }),
    await scene.server.call("GET", "/intakes/open", { key }),
    await scene.server.call("GET", `/resume/rtok_${"a".repeat(43)}`, { key }),
  ];
  for (const reply of replies) expect([reply.status, reply.body]).toEqual([401, wrongKey.body]);
});

describe("claims", () => {
  it.each([
    ["another audience", { aud: "another" }],
    ["no audience", { aud: undefined }],
    ["an audience in another case", { aud: "FormBridge" }],
    ["an unknown issuer", { iss: "https://elsewhere.example" }],
    ["no issuer", { iss: undefined }],
    ["no subject", { sub: undefined }],
    ["no end", { exp: undefined }],
    ["an end that is text", { exp: "2030-01-01" }],
  ])("[JWT-CLAIMS] [JWT-REFUSED] %s is refused", async (_, claims) => {
    await expectRefused(await good(claims));
  });

  it("[JWT-CLAIMS] one of several audiences is enough", async () => {
    expect((await use(await good({ aud: ["another", "formbridge"] }))).status).toBe(200);
  });

  it("[JWT-TIME] a token ends at exp, thirty seconds of skew later, and begins at nbf", async () => {
    const now = seconds();
    expect((await use(await good({ exp: now - 29 }))).status).toBe(200);
    await expectRefused(await good({ exp: now - 30 }));
    expect((await use(await good({ nbf: now + 30 }))).status).toBe(200);
    await expectRefused(await good({ nbf: now + 31 }));
    const token = await good({ exp: now + 60 });
    scene.server.clock.advance(89_000);
    expect((await use(token)).status).toBe(200);
    scene.server.clock.advance(1_000);
    await expectRefused(token);
  });

  it("[JWT-TIME] the skew is a setting", async () => {
    const strict = await startJwtScene({ env: { FORMBRIDGE_CLOCK_SKEW_MS: "0" } });
    try {
      const status = async (exp: number) =>
        (await strict.server.call("GET", "/submissions", { key: await strict.token("admin", { claims: { exp } }) }))
          .status;
      const now = Math.floor(strict.server.clock.now() / 1000);
      expect([await status(now + 1), await status(now)]).toEqual([200, 401]);
    } finally {
      await strict.stop();
    }
  });
});

describe("signatures", () => {
  const claims = () => ({
    iss: scene.issuer.url,
    aud: "formbridge",
    sub: "ada",
    roles: ["admin"],
    org: "default",
    exp: seconds() + 300,
  });

  it.each(["none", "None", "NONE", ""])("[JWT-ALGORITHMS] alg %j is refused, signed or not", async (alg) => {
    await expectRefused(forge({ alg }, claims()));
    await expectRefused(forge({ alg, kid: scene.issuer.newest().kid }, claims(), "AAAA"));
  });

  it.each(["RS256", "ES256"])("[JWT-ALGORITHMS] HS256 with the public %s key as its secret is refused", async (alg) => {
    const { kid, publicJwk } = await scene.issuer.rotate(alg);
    scene.server.clock.advance(60_000);
    expect((await use(await good())).status).toBe(200);
    const key = await importJWK(publicJwk, alg, { extractable: true });
    if (key instanceof Uint8Array) throw new Error("a public key is no secret");
    const forms = [await exportSPKI(key), JSON.stringify(publicJwk), publicJwk.n ?? publicJwk.x ?? ""];
    for (const secret of [...forms, ...forms.map((text) => `${text}\n`), ""]) {
      const unsigned = forge({ alg: "HS256", kid }, claims()).slice(0, -1);
      const mac = createHmac("sha256", secret).update(unsigned).digest("base64url");
      await expectRefused(`${unsigned}.${mac}`);
    }
  });

  it("[JWT-ALGORITHMS] an algorithm that this issuer may not use is refused", async () => {
    const strict = await startJwtScene({ settings: { algorithms: ["RS256"] }, alg: "ES256" });
    try {
      const key = await strict.token("admin");
      expect((await strict.server.call("GET", "/submissions", { key })).status).toBe(401);
    } finally {
      await strict.stop();
    }
  });

  it("[JWT-REFUSED] a changed payload, another's key and malformed tokens are refused", async () => {
    const [header = "", payload = "", signature = ""] = (await good()).split(".");
    const changed = Buffer.from(payload, "base64url").toString().replace("ada", "eve");
    await expectRefused([header, Buffer.from(changed).toString("base64url"), signature].join("."));
    await expectRefused([header, payload, ""].join("."));
    await expectRefused([header, payload, signature.slice(0, -8)].join("."));
    const { kid } = scene.issuer.newest();
    await expectRefused(await scene.token("admin", { key: await makeKey("ES256", kid) }));
    for (const text of [
      "eyJ..",
      "eyJhbGciOiJFUzI1NiJ9.e30.AAAA",
      "eyJ9.W10.x",
      "a.b.c",
      "eyJhbGciOiJSU0EtT0FFUCJ9.a.b.c.d",
    ]) {
      await expectRefused(text);
    }
  });

  it("[JWT-REFUSED] a header with unknown critical extensions is refused", async () => {
    await expectRefused(forge({ alg: "ES256", crit: ["x"], x: 1, kid: scene.issuer.newest().kid }, claims(), "AAAA"));
  });

  it("[JWT-HEADERS] a key that the token brings or points to is neither used nor fetched", async () => {
    let visits = 0;
    const own = await makeKey("ES256", "mine");
    const elsewhere = createServer((_, response) => {
      visits += 1;
      response.end(JSON.stringify({ keys: [own.publicJwk] }));
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
    try {
      const { kid } = scene.issuer.newest();
      for (const named of [own.kid, kid]) {
        for (const header of [{ jwk: own.publicJwk }, { jku: url }, { x5u: url }, { x5c: ["AAAA"] }]) {
          await expectRefused(await scene.token("admin", { key: own, header: { ...header, kid: named } }));
        }
      }
      // With a valid signature they change nothing either.
      const harmless = await scene.token("admin", { header: { jwk: own.publicJwk, jku: url, x5u: url } });
      expect((await use(harmless)).status).toBe(200);
      expect(visits).toBe(0);
    } finally {
      await new Promise((resolve) => elsewhere.close(resolve));
    }
  });
});

describe("size", () => {
  it("[JWT-SIZE] a token beyond the header block is a 431, one beyond its own limit the 401", async () => {
    const huge = (size: number) => good({ filler: "x".repeat(size) });
    expect((await use(await huge(9_000))).status).toBe(200);
    expect((await use(await huge(20_000))).status).toBe(431);
    const roomy = await startJwtScene({ env: { FORMBRIDGE_MAX_HEADER_BYTES: "100000" } });
    try {
      const key = await roomy.token("admin", { claims: { filler: "x".repeat(20_000) } });
      const reply = await roomy.server.call("GET", "/submissions", { key });
      expect([reply.status, reply.body]).toEqual([401, wrongKey.body]);
      expect(roomy.issuer.fetches()).toBe(0);
    } finally {
      await roomy.stop();
    }
  });
});

it("[JWT-OFF] a server without issuers treats a JWT as a wrong key", async () => {
  const server = await startTestServer({ store: "memory" });
  try {
    const reply = await server.call("GET", "/submissions", { key: await good() });
    expect([reply.status, reply.body]).toEqual([401, wrongKey.body]);
  } finally {
    await server.stop();
  }
});
