import { createHmac } from "node:crypto";
import { SignJWT } from "jose";
import type { Instant } from "../domain/instant.ts";
import { type PagePosition, type PageScope, refusedPage } from "../domain/page.ts";
import { createAesSealer } from "./aes-sealer.ts";
import { verifyCompactJwt } from "./compact-jwt.ts";
import { deriveKeys, type NamedKey } from "./secrets.ts";

export interface SignedPage {
  token: string;
  expiresAt: Instant;
}

export interface PageTokens {
  /** Its lifetime starts again with each page. */
  sign(scope: PageScope, position: PagePosition, now: Instant): Promise<SignedPage>;
  /** Throws `refusedPage()` for what was changed, has expired, or belongs to another list or caller. */
  open(token: string, scope: PageScope, now: Instant): Promise<PagePosition>;
}

interface Claims {
  ver: number;
  query: Record<string, string>;
  /** What of the query may name a person, sealed: anyone can read the rest of a token. */
  hidden?: string;
  after: string;
  cursor: number;
  total?: number;
  estimate?: true;
}

const VERSION = 1;
const PERSONAL = ["createdBy", "actorId"];
const BOUND_TO = "page-token";

/** Stateless: any instance can serve the next page, and page 50,000 costs what page 1 costs. */
export function createPageTokens(secrets: readonly string[], ttlMs: number): PageTokens {
  const keys = deriveKeys(secrets, "page-token");
  const [newest] = keys;
  const sealer = createAesSealer(secrets);
  return {
    async sign(scope, { query, after, cursor, total }, now) {
      const entries = Object.entries(query);
      const personal = entries.filter(([name]) => PERSONAL.includes(name));
      const claims: Claims = {
        ver: VERSION,
        query: Object.fromEntries(entries.filter(([name]) => !PERSONAL.includes(name))),
        ...(personal.length > 0 && { hidden: sealer.seal(JSON.stringify(Object.fromEntries(personal)), BOUND_TO) }),
        after,
        cursor,
        ...(total && { total: total.count, ...(total.isEstimate && { estimate: true as const }) }),
      };
      const exp = Math.floor((now + ttlMs) / 1000);
      const token = await new SignJWT({ ...claims })
        .setProtectedHeader({ alg: "HS256", kid: newest.id })
        .setAudience(scope.list)
        .setSubject(subjectOf(scope, newest))
        .setExpirationTime(exp)
        .sign(newest.bytes);
      return { token, expiresAt: exp * 1000 };
    },
    async open(token, scope, now) {
      try {
        const { payload, key } = await verifyCompactJwt<Claims>(token, keys, {
          currentDate: new Date(now),
          audience: scope.list,
          requiredClaims: ["exp", "sub"],
        });
        if (payload.ver !== VERSION || payload.sub !== subjectOf(scope, key)) throw refusedPage();
        const { query, hidden, after, cursor, total, estimate } = payload;
        return {
          query: { ...query, ...(hidden !== undefined && JSON.parse(sealer.open(hidden, BOUND_TO))) },
          after,
          cursor,
          ...(total !== undefined && { total: { count: total, isEstimate: estimate === true } }),
        };
      } catch (error) {
        throw refusedPage(error);
      }
    },
  };
}

/** Keyed, not just hashed: the id of a caller that another authority vouches for may be an address that can be guessed. */
const subjectOf = ({ holder }: PageScope, key: NamedKey): string =>
  createHmac("sha256", key.bytes)
    .update(JSON.stringify(holder === undefined ? [] : [holder.tenant, holder.keyId]))
    .digest("base64url")
    .slice(0, 22);
