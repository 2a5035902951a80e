import { isIP, isIPv6 } from "node:net";
import type { Caller } from "../caller.ts";
import type { Deps } from "../deps.ts";

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
/** The same in the form that URLs give every IPv6 address. */
const MAPPED_HEX = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/;
const GROUPS = 8;

/** The network to rate-limit. IPv6 is limited by /64, because one subscriber controls the whole prefix. */
export function networkOf(address: string): string {
  const mapped = MAPPED.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [plain = ""] = address.split("%");
  const { hostname } = new URL(`http://[${plain}]`);
  const [, high, low] = MAPPED_HEX.exec(hostname) ?? [];
  if (high !== undefined && low !== undefined) return [...bytesOf(high), ...bytesOf(low)].join(".");
  const [front = [], back = []] = hostname
    .slice(1, -1)
    .split("::")
    .map((half) => (half === "" ? [] : half.split(":")));
  const zeros = Array<string>(GROUPS - front.length - back.length).fill("0");
  return `${[...front, ...zeros, ...back].slice(0, GROUPS / 2).join(":")}::/64`;
}

const bytesOf = (group: string): number[] => {
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 0xff];
};

/** The caller's network as evidence; over stdio there is none. */
export const networkFor = ({ address }: Caller): { network?: string } =>
  isIP(address) === 0 ? {} : { network: networkOf(address) };

/** The caller's country: from the transport, or looked up by the embedding program. */
export function countryOf({ countryOf: lookUp }: Deps, { address, country }: Caller): { country?: string } {
  const known = country ?? lookUp?.(address);
  return known === undefined ? {} : { country: known };
}
