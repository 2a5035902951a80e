import { isIP } from "node:net";

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

export const isOaiDomain = (domain: string): boolean => DOMAIN.test(domain) && isIP(domain) === 0;
export const isEmail = (address: string): boolean => EMAIL.test(address);

/** For servers without a host name, such as on a laptop or behind a bare address. */
const NAMELESS = "formbridge.localhost";

/** Part of every record's identifier. */
export function oaiDomain({ domain }: OaiChoice, publicUrl: string): string {
  const { hostname } = new URL(publicUrl);
  return domain ?? (isOaiDomain(hostname) ? hostname : NAMELESS);
}
