import { describeAuthenticator, type OpenAuthenticator } from "@formbridge/conformance";
import { afterEach } from "vitest";
import { AUDIENCE, makeKey, startIssuer, type TestIssuer } from "../../../test/support/issuer.ts";
import { checkIssuers, createJwtAuthenticator } from "../src/index.ts";

const NOW = Date.UTC(2026, 0, 1);
const started: TestIssuer[] = [];
afterEach(async () => {
  for (const issuer of started.splice(0)) await issuer.stop();
});

const open: OpenAuthenticator = async ({ reachable }) => {
  const issuer = await startIssuer(() => NOW);
  started.push(issuer);
  if (!reachable) await issuer.stop();
  const settings = checkIssuers([
    {
      name: "test",
      issuer: issuer.url,
      audience: AUDIENCE,
      jwksUri: issuer.jwksUri,
      tenant: "acme",
      roles: ["agent"],
      actor: { kind: "human" },
    },
  ]);
  return {
    authenticator: createJwtAuthenticator(settings, {
      now: () => NOW,
      clockSkewMs: 0,
      reservedTenant: "default",
      keys: { timeoutMs: 5_000, cooldownMs: 30_000, maxAgeMs: 600_000, staleMs: 0 },
      notes: { refused: () => {}, keysUnavailable: () => {} },
    }),
    issue: (sub) => issuer.token({ claims: { sub, jti: crypto.randomUUID() } }),
    bad: async () => [
      await issuer.token({ claims: { iss: "https://elsewhere.example" } }),
      await issuer.token({ claims: { exp: NOW / 1000 } }),
      await issuer.token({ key: { ...(await makeKey("ES256", "key-1")) } }),
      "eyJhbGciOiJub25lIn0.e30.",
    ],
  };
};

describeAuthenticator(open);
