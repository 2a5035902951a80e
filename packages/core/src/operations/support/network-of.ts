import { isIPv6 } from "node:net";

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const GROUPS = 8;

/** Who is counted by an address. Of IPv6 a line has 2⁶⁴ addresses and changes them at will: there, the line is counted. */
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
