/**
 * A stand-in for an identity provider, to try access tokens with. Not for production: its private key is in a file.
 *
 *   demo-issuer.ts keys <folder>            makes a key pair: private.json for the issuer, jwks.json for whoever checks
 *   demo-issuer.ts token <folder> <claims>  signs a token that lives five minutes
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from "jose";

const ALG = "ES256";
const KID = "demo-1";

async function makeKeys(folder: string): Promise<void> {
  const { privateKey, publicKey } = await generateKeyPair(ALG, { extractable: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, "private.json"), JSON.stringify(await exportJWK(privateKey)), { mode: 0o600 });
  const shown = { ...(await exportJWK(publicKey)), kid: KID, alg: ALG, use: "sig" };
  writeFileSync(join(folder, "jwks.json"), JSON.stringify({ keys: [shown] }));
}

async function signToken(folder: string, claims: string): Promise<string> {
  const key = await importJWK(JSON.parse(readFileSync(join(folder, "private.json"), "utf8")) as JWK, ALG);
  return await new SignJWT({ iss: "https://id.example.com", aud: "formbridge", ...JSON.parse(claims) })
    .setProtectedHeader({ alg: ALG, kid: KID })
    .setIssuedAt()
    .setExpirationTime("5 minutes")
    .sign(key);
}

const [command, folder = "demo-issuer", claims = "{}"] = process.argv.slice(2);
if (command === "keys") await makeKeys(folder);
else if (command === "token") process.stdout.write(`${await signToken(folder, claims)}\n`);
else throw new Error("Usage: demo-issuer.ts keys <folder>, or demo-issuer.ts token <folder> <claims>");
