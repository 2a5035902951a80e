import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";

interface SigningKey {
  alg: string;
  kid: string;
  privateKey: CryptoKey;
  publicJwk: JWK;
}

export interface TokenOptions {
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  /** The signing key; defaults to the newest. */
  key?: SigningKey;
}

/** A real issuer on loopback: it serves its keys, signs tokens, rotates, and can be made to fail. */
export interface TestIssuer {
  url: string;
  jwksUri: string;
  /** How often its keys were fetched. */
  fetches(): number;
  /** A valid token, unless claims or header say otherwise; a claim that is `undefined` is left out. */
  token(options?: TokenOptions): Promise<string>;
  /** Switches to a new signing key, and serves only that one. */
  rotate(alg?: string): Promise<SigningKey>;
  newest(): SigningKey;
  /** Overrides the response to key requests; `undefined` restores it. */
  answer(how: ((request: IncomingMessage, response: ServerResponse) => void) | undefined): void;
  jwks(): { keys: JWK[] };
  stop(): Promise<void>;
}

export const AUDIENCE = "formbridge";

export async function makeKey(alg: string, kid: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}

export async function startIssuer(now: () => number, alg = "ES256"): Promise<TestIssuer> {
  let count = 0;
  let made = 0;
  let other: Parameters<TestIssuer["answer"]>[0];
  const nextKey = (wanted: string): Promise<SigningKey> => makeKey(wanted, `key-${++made}`);
  let key = await nextKey(alg);
  const jwks = () => ({ keys: [key.publicJwk] });
  const server = createServer((request, response) => {
    count += 1;
    if (other !== undefined) return other(request, response);
    response.setHeader("content-type", "application/json").end(JSON.stringify(jwks()));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    jwksUri: `${url}/jwks`,
    fetches: () => count,
    jwks,
    newest: () => key,
    answer(how) {
      other = how;
    },
    async rotate(wanted = alg) {
      key = await nextKey(wanted);
      return key;
    },
    async token({ claims = {}, header = {}, key: signer = key } = {}) {
      const seconds = Math.floor(now() / 1000);
      const usual = { iss: url, aud: AUDIENCE, sub: "ada", iat: seconds, exp: seconds + 300 };
      return await new SignJWT({ ...usual, ...claims })
        .setProtectedHeader({ alg: signer.alg, kid: signer.kid, ...header })
        .sign(signer.privateKey);
    },
    async stop() {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A hand-made token that no honest library would sign. */
export function forge(header: Record<string, unknown>, claims: Record<string, unknown>, signature = ""): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part(header)}.${part(claims)}.${signature}`;
}
