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

/** Every address that a name has now. */
export type Resolve = (host: string) => Promise<string[]>;

export interface GuardOptions {
  /** The operator's networks may be reached. */
  allowPrivate: boolean;
  resolve?: Resolve;
}

/** The addresses that a connection to the target may use; throws a Refusal when it may use none. */
export type Guard = (target: Target, signal: AbortSignal) => Promise<Address[]>;

const resolveBySystem: Resolve = async (host) =>
  (await systemLookup(host, { all: true })).map((found) => found.address);

/** Names that mean this machine or this network wherever they are looked up. */
const INSIDE_NAMES = /(?:^|\.)(?:localhost|localdomain|local|internal|home\.arpa)$|^ip6-(?:localhost|loopback)$/;

/**
 * Looks a name up once, judges every address it has, and answers those addresses: who connects to them, by `pinnedLookup` or
 * as they are, can't be led elsewhere by a name that answers differently the next time.
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
    // One bad address is enough: which of them is used is not ours to say.
    const why = found.map(refusalOf).find((reason) => reason !== undefined);
    if (why !== undefined && isAddress) throw new Refusal(`it is ${why}, which is not delivered to`, "final");
    if (why !== undefined) throw new Refusal(`its name leads to ${why}, which is not delivered to`);
    return found.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  };
}

/** Answers what was judged, whatever is asked. */
export function pinnedLookup(addresses: readonly Address[]): LookupFunction {
  return (_host, options, answer) => {
    const [first] = addresses;
    if (first === undefined) answer(new Error("no address"), "");
    else if (options.all === true) answer(null, [...addresses]);
    else answer(null, first.address, first.family);
  };
}
