import { startTestServer, type TestServer } from "./harness.ts";
import { AUDIENCE, startIssuer, type TestIssuer, type TokenOptions } from "./issuer.ts";

export interface JwtScene {
  server: TestServer;
  issuer: TestIssuer;
  /** A token of the issuer with a role, for the tenant `default`. */
  token(role: string, options?: TokenOptions): Promise<string>;
  stop(): Promise<void>;
}

/** The issuer's settings on a test's server: tenant, roles and intakes by claim. */
export const issuerSettings = ({ url, jwksUri }: TestIssuer, over: Record<string, unknown> = {}) => ({
  name: "test",
  issuer: url,
  audience: AUDIENCE,
  jwksUri,
  tenant: { claim: "org", allowed: ["default", "acme"] },
  roles: { claim: "roles", allowed: ["admin", "agent", "reviewer", "viewer"] },
  actor: { kind: "human" },
  ...over,
});

/** The issuer's time before there is a server with a clock. */
const START = Date.parse("2026-03-01T12:00:00.000Z");

/** A server that trusts one issuer, both on loopback and with the same clock. */
export async function startJwtScene(
  options: { settings?: Record<string, unknown>; env?: Record<string, string>; alg?: string } = {},
): Promise<JwtScene> {
  let now = (): number => START;
  const issuer = await startIssuer(() => now(), options.alg);
  const server = await startTestServer({
    store: "memory",
    env: { FORMBRIDGE_JWT_ISSUERS: JSON.stringify([issuerSettings(issuer, options.settings)]), ...options.env },
  });
  now = server.clock.now;
  await server.putIntake({ id: "closed", access: "key" });
  return {
    server,
    issuer,
    token: (role, { claims = {}, ...rest } = {}) =>
      issuer.token({ claims: { roles: [role], org: "default", ...claims }, ...rest }),
    async stop() {
      await server.stop();
      await issuer.stop();
    },
  };
}
