import { lookup as systemLookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { isIPv6 } from "node:net";
import { Refusal } from "../failure.ts";
import { unlessAborted } from "../in-time.ts";
import { judgeAddress } from "./judge-address.ts";
import type { Target } from "./read-target.ts";

export interface Address {
  address: string;
  family: 4 | 6;
}

/** Resolves a name to all its current addresses. */
export type Resolve = (host: string) => Promise<string[]>;

export interface GuardOptions {
  /** Whether the operator's own networks may be reached. */
  allowPrivate: boolean;
  resolve?: Resolve;
}

/** The addresses that a connection to the target may use; throws a Refusal if there are none. */
export type Guard = (target: Target, signal: AbortSignal) => Promise<Address[]>;

const resolveBySystem: Resolve = async (host) =>
  (await systemLookup(host, { all: true })).map((found) => found.address);

/** Names for this machine or this network in every resolver. */
const INSIDE_NAMES = /(?:^|\.)(?:localhost|localdomain|local|internal|home\.arpa)$|^ip6-(?:localhost|loopback)$/;

/**
 * Resolves a name once, checks every address and returns them. Connect only to these, directly or through
 * `pinnedLookup`, so that a name that resolves differently the next time can't redirect the connection (DNS rebinding).
 */
export function createGuard({ allowPrivate, resolve = resolveBySystem }: GuardOptions): Guard {
  const refusalOf = (address: string): string | undefined => {
    const verdict = judgeAddress(address);
    return verdict.allowed || (allowPrivate && verdict.kind === "inside") ? undefined : verdict.why;
  };
  return async ({ host, isAddress }, signal) => {
    if (!allowPrivate && INSIDE_NAMES.test(host))
      throw new Refusal("it is a name for this machine or network", "final");
    const found = isAddress ? [host] : await unlessAborted(resolve(host), signal);
    if (found.length === 0) throw new Refusal("its name has no address");
    // One forbidden address is enough to refuse, because we don't control which one is used.
    const why = found.map(refusalOf).find((reason) => reason !== undefined);
    if (why !== undefined && isAddress)
      throw new Refusal(`it is ${why}, and deliveries to such addresses are blocked`, "final");
    if (why !== undefined)
      throw new Refusal(`its name resolves to ${why}, and deliveries to such addresses are blocked`);
    return found.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  };
}

/** Always returns the checked addresses, whatever host is asked for. */
export function pinnedLookup(addresses: readonly Address[]): LookupFunction {
  return (_host, options, answer) => {
    const [first] = addresses;
    if (first === undefined) answer(new Error("no address"), "");
    else if (options.all === true) answer(null, [...addresses]);
    else answer(null, first.address, first.family);
  };
}
