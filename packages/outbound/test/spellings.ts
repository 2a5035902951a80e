/** Ways to write a URL whose host is this machine, its network, or nothing valid. */

/** Addresses of each refused kind. */
const IPV4 = [
  "127.0.0.1",
  "127.255.255.254",
  "10.0.0.1",
  "10.255.255.255",
  "172.16.0.1",
  "172.31.255.254",
  "192.168.1.1",
  "169.254.169.254",
  "169.254.170.2",
  "169.254.1.1",
  "100.64.0.1",
  "100.100.100.200",
  "0.0.0.0",
  "0.1.2.3",
  "192.0.0.192",
  "192.0.2.1",
  "198.18.0.1",
  "198.51.100.7",
  "203.0.113.9",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "168.63.129.16",
];

const parts = (address: string): number[] => address.split(".").map(Number);
const whole = (address: string): number => parts(address).reduce((sum, part) => sum * 256 + part, 0);
const fullWidth = (text: string): string =>
  text.replace(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
const percent = (text: string): string => text.replace(/./g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
const hex = (number: number): string => `0x${number.toString(16)}`;
const octal = (number: number): string => `0${number.toString(8)}`;

/** Every spelling of a number that some parser reads as an IPv4 address. */
const spelledIpv4 = (address: string): string[] => {
  const [a = 0, b = 0, c = 0, d = 0] = parts(address);
  const six = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  return [
    address,
    `${address}.`,
    String(whole(address)),
    hex(whole(address)),
    octal(whole(address)),
    parts(address).map(hex).join("."),
    parts(address).map(octal).join("."),
    `${a}.${b * 65_536 + c * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    `${hex(a)}.${octal(b)}.${c}.${d}`,
    parts(address)
      .map((part) => `0x${part.toString(16).toUpperCase().padStart(4, "0")}`)
      .join("."),
    percent(address),
    fullWidth(address),
    address.replaceAll(".", "。"),
    `[::ffff:${address}]`,
    `[::ffff:${six}]`,
    `[::${address}]`,
    `[64:ff9b::${address}]`,
    `[64:ff9b:1::${six}]`,
    `[2002:${six}::1]`,
    `[::FFFF:0:${address}]`,
  ];
};

const IPV6 = [
  "[::1]",
  "[::]",
  "[0:0:0:0:0:0:0:1]",
  "[0000:0000:0000:0000:0000:0000:0000:0001]",
  "[::0001]",
  "[FE80::1]",
  "[fe80::1%25eth0]",
  "[fe80::1%eth0]",
  "[::1%25lo]",
  "[fec0::1]",
  "[FC00::1]",
  "[fd00:ec2::254]",
  "[FD00:EC2:0:0:0:0:0:254]",
  "[fd20:ce::254]",
  "[ff02::1]",
  "[2001::1]",
  "[2001:0:7f00:1::]",
  "[2001:db8::1]",
  "[3fff::1]",
  "[100::1]",
  "[4000::1]",
];

const NAMES = [
  "localhost",
  "LOCALHOST",
  "LocalHost.",
  "localhost.",
  "ｌｏｃａｌｈｏｓｔ",
  "%6c%6f%63%61%6c%68%6f%73%74",
  "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
  "loc\tal\nhost",
  "foo.localhost",
  "foo.LOCALHOST.",
  "localhost.localdomain",
  "ip6-localhost",
  "ip6-loopback",
  "printer.local",
  "metadata.google.internal",
  "METADATA.GOOGLE.INTERNAL.",
  "router.home.arpa",
];

/** Strings that no parser may accept as a host. */
const NO_HOST = [
  ".",
  "..",
  "127.0.0.1%00.example.com",
  "exa mple.com",
  "1.2.3.4.5",
  "0x100000000",
  "256.256.256.256",
  "[::1",
  "[:::1]",
];

const HOSTS = [...IPV4.flatMap(spelledIpv4), ...IPV6, ...NAMES, ...NO_HOST];

/** User info that makes the URL look as if it had another host. */
const LOGINS = ["example.com@", "example.com:443@", "user:pass@", "example.com%2f@", "example.com%40@"];
const TRICKS = ["127.0.0.1", "2130706433", "[::1]", "localhost", "169.254.169.254"].flatMap((host) => [
  ...LOGINS.map((login) => `http://${login}${host}/`),
  `http:${host}`,
  `http:/${host}/`,
  `http:\\\\${host}\\`,
  `http:////${host}/`,
  `  http://${host}/  `,
  `HTTP://${host}:80/`,
  `http://${host}\\@example.com/`,
  `http://${host}#@example.com/`,
  `http://${host}?@example.com/`,
  `https://${host}:443/`,
]);

export const WEBHOOK_SPELLINGS: readonly string[] = [...HOSTS.map((host) => `http://${host}/hook`), ...TRICKS];

export const QUEUE_SPELLINGS: readonly string[] = ["amqp", "nats", "redis", "tls", "amqps", "rediss"].flatMap(
  (scheme) =>
    [
      ...IPV4.slice(0, 8).flatMap(spelledIpv4),
      ...IPV6,
      ...NAMES.filter((name) => !/[^ -~]/.test(name)),
      ...NO_HOST,
    ].map((host) => `${scheme}://user:pass@${host}/`),
);

/** Loopback only: the hosts that a test may really connect to. */
export const LOOPBACK_HOSTS: readonly string[] = [
  ...spelledIpv4("127.0.0.1"),
  ...spelledIpv4("0.0.0.0").slice(0, 14),
  "127.1",
  "127.0.1",
  "0",
  "0x0",
  "[::1]",
  "[::]",
  "[0:0:0:0:0:0:0:1]",
  ...NAMES.filter((name) => /localhost\.?$/i.test(name.normalize("NFKC"))),
  "ip6-localhost",
];
