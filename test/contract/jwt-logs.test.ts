import { expect, it } from "vitest";
import { startServerProcess, tempFolder } from "../support/child.ts";
import { startIssuer } from "../support/issuer.ts";
import { issuerSettings } from "../support/jwt-server.ts";

it("[JWT-LOGS] at trace level the log says why, and contains nothing of any token, valid, invalid or misplaced", async () => {
  const folder = tempFolder();
  const issuer = await startIssuer(Date.now);
  const server = await startServerProcess({
    FORMBRIDGE_DATA: folder.path,
    FORMBRIDGE_LOG_LEVEL: "trace",
    FORMBRIDGE_JWKS_COOLDOWN_MS: "0",
    FORMBRIDGE_JWT_ISSUERS: JSON.stringify([issuerSettings(issuer)]),
  });
  const tokens: string[] = [];
  const use = async (claims: Record<string, unknown>, header: Record<string, unknown> = {}) => {
    const mine = { roles: ["admin"], org: "default", sub: "confidential-subject", ...claims };
    const token = await issuer.token({ claims: mine, header });
    tokens.push(token);
    return (await fetch(`${server.url}/submissions`, { headers: { authorization: `Bearer ${token}` } })).status;
  };
  try {
    issuer.answer((_, response) => response.writeHead(500).end());
    expect(await use({})).toBe(503);
    issuer.answer(undefined);
    expect(await use({})).toBe(200);
    expect(await use({ aud: "elsewhere" })).toBe(401);
    expect(await use({ exp: 1 })).toBe(401);
    expect(await use({ roles: ["confidential-role"] })).toBe(401);
    expect(await use({ iss: "https://confidential.example" })).toBe(401);
    expect(await use({}, { kid: "confidential-kid" })).toBe(401);
    const [token = ""] = tokens;
    await fetch(`${server.url}/resume/${token}?token=${token}`);
    await fetch(`${server.url}/submissions?pageToken=${token}`, { headers: { authorization: `Bearer ${token}` } });
    await fetch(`${server.url}/submissions`, { headers: { authorization: `Basic ${token}` } });
    await fetch(`${server.url}/healthz`, { headers: { "x-long": token.repeat(60) } });
  } finally {
    const { stdout, stderr } = await server.stop();
    await issuer.stop();
    folder.remove();
    const output = stdout + stderr;
    for (const reason of ["ERR_JWT_CLAIM_VALIDATION_FAILED aud", "ERR_JWT_EXPIRED exp", "no role", "no such issuer"]) {
      expect(output).toContain(reason);
    }
    expect(output).toContain("can't fetch the keys of an issuer");
    expect(output).not.toMatch(/eyJ[\w-]{4}|confidential/);
    for (const token of tokens) {
      for (const part of token.split(".")) expect(output.includes(part.slice(0, 20))).toBe(false);
    }
  }
});
