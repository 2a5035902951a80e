import { isIP } from "node:net";
import type { Reader } from "./reader.ts";

export interface OaiChoice {
  repositoryName: string;
  /** Defaults to the host of the public URL. */
  domain?: string;
  adminEmail?: string;
  atOnce: number;
  retryAfterMs: number;
}

/** As required by the protocol's schema: labels start with a letter, and there is at least one dot. */
const DOMAIN = /^[a-z][a-z0-9-]*(?:\.[a-z][a-z0-9-]*)+$/i;
const EMAIL = /^\S+@(?:\S+\.)+\S+$/;

const isOaiDomain = (domain: string): boolean => DOMAIN.test(domain) && isIP(domain) === 0;
export const isEmail = (address: string): boolean => EMAIL.test(address);

export function oaiOf(read: Reader): OaiChoice {
  const domain = read.checked("FORMBRIDGE_OAI_DOMAIN", isOaiDomain, "a domain name");
  const adminEmail = read.checked("FORMBRIDGE_OAI_ADMIN_EMAIL", isEmail, "an e-mail address");
  return {
    repositoryName: read.text("FORMBRIDGE_OAI_NAME"),
    ...(domain !== undefined && { domain }),
    ...(adminEmail !== undefined && { adminEmail }),
    atOnce: read.number("FORMBRIDGE_OAI_AT_ONCE", { min: 1 }),
    retryAfterMs: read.number("FORMBRIDGE_OAI_RETRY_AFTER_MS", { min: 1 }),
  };
}

/** For servers without a host name, such as on a laptop or behind a bare address. */
const NAMELESS = "formbridge.localhost";

/** Part of every record's identifier. */
export function oaiDomain({ domain }: OaiChoice, publicUrl: string): string {
  const { hostname } = new URL(publicUrl);
  return domain ?? (isOaiDomain(hostname) ? hostname : NAMELESS);
}
