/*
 * Which addresses a delivery may go to. The author of a definition chooses the address, and the server can reach places
 * that they can't (SSRF). So everything is refused that isn't clearly a public internet address.
 *
 * - `inside`: the operator's networks and machines. The operator may allow them.
 * - `never`: unassigned addresses, those that hand out the machine's credentials, and those that embed another address.
 * No setting allows them.
 */
import { BlockList, isIP, isIPv4 } from "node:net";

export type Verdict = { allowed: true } | { allowed: false; why: string; kind: "inside" | "never" };

type Row = [kind: "inside" | "never", why: string, ranges: readonly string[]];

/** The first matching row decides, so what is never allowed comes first. */
const ROWS: readonly Row[] = [
  [
    "never",
    "a cloud's metadata address",
    // Metadata services: AWS and most others, AWS containers and pods, Azure, Alibaba, Oracle; then AWS and Google on
    // IPv6.
    [
      "169.254.169.254/32",
      "169.254.170.2/32",
      "169.254.170.23/32",
      "168.63.129.16/32",
      "100.100.100.200/32",
      "192.0.0.192/32",
      "fd00:ec2::254/128",
      "fd00:ec2::23/128",
      "fd20:ce::254/128",
    ],
  ],
  ["never", "an unspecified address", ["0.0.0.0/8", "::/128"]],
  ["never", "a multicast address", ["224.0.0.0/4", "ff00::/8"]],
  ["never", "a broadcast address", ["255.255.255.255/32"]],
  ["never", "a reserved address", ["192.0.0.0/24", "240.0.0.0/4", "100::/64", "2001::/23", "5f00::/16"]],
  ["never", "an address for documentation", ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"]],
  ["never", "an address for documentation", ["2001:db8::/32", "3fff::/20"]],
  ["inside", "a loopback address", ["127.0.0.0/8", "::1/128"]],
  ["never", "an address that contains another one", ["192.88.99.0/24", "::/96", "::ffff:0:0/96", "::ffff:0:0:0/96"]],
  ["never", "an address that contains another one", ["64:ff9b::/96", "64:ff9b:1::/48", "2002::/16"]],
  ["inside", "a private address", ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"]],
  ["inside", "a link-local address", ["169.254.0.0/16", "fe80::/10"]],
  ["inside", "an address of a carrier's network", ["100.64.0.0/10"]],
  ["inside", "an address for measurements", ["198.18.0.0/15"]],
];

type Family = "ipv4" | "ipv6";
const familyOf = (address: string): Family => (isIPv4(address) ? "ipv4" : "ipv6");

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = "", prefix] = range.split("/");
    list.addSubnet(network, Number(prefix), familyOf(network));
  }
  return list;
}

/** One list per family: an IPv6 list would also match IPv4 addresses, as mapped ones. */
const lists = ROWS.flatMap(([kind, why, ranges]) =>
  (["ipv4", "ipv6"] as const).map((family) => ({
    kind,
    why,
    family,
    list: listOf(ranges.filter((range) => familyOf(range.split("/")[0] ?? "") === family)),
  })),
);

/** The globally routed range. Everything outside it has a special meaning, or may get one. */
const GLOBAL_IPV6 = listOf(["2000::/3"]);

/** Takes an address as the resolver writes it; anything else, including one with a zone, is refused. */
export function judgeAddress(address: string): Verdict {
  if (isIP(address) === 0 || address.includes("%")) {
    return { allowed: false, kind: "never", why: "not a recognized address" };
  }
  const family = familyOf(address);
  const found = lists.find((row) => row.family === family && row.list.check(address, family));
  if (found !== undefined) return { allowed: false, kind: found.kind, why: found.why };
  return family === "ipv4" || GLOBAL_IPV6.check(address, family)
    ? { allowed: true }
    : { allowed: false, kind: "never", why: "a reserved address" };
}
