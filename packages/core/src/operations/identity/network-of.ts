import { isIPv6 } from "node:net";

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const GROUPS = 8;

/** The network to rate-limit. IPv6 is limited by /64, because one subscriber controls the whole prefix. */
export function networkOf(address: string): string {
  const mapped = MAPPED.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [plain = ""] = address.split("%");
  const { hostname } = new URL(`http://[${plain}]`);
  const [front = [], back = []] = hostname
    .slice(1, -1)
    .split("::")
    .map((half) => (half === "" ? [] : half.split(":")));
  const zeros = Array<string>(GROUPS - front.length - back.length).fill("0");
  return `${[...front, ...zeros, ...back].slice(0, GROUPS / 2).join(":")}::/64`;
}
