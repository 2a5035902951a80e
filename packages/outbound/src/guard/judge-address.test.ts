import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judgeAddress } from "./judge-address.ts";

const kindOf = (address: string): string => {
  const verdict = judgeAddress(address);
  return verdict.allowed ? "allowed" : verdict.kind;
};

describe("judgeAddress", () => {
  it.each(["1.1.1.1", "8.8.8.8", "93.184.215.14", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0"])(
    "%s is public",
    (address) => expect(kindOf(address)).toBe("allowed"),
  );
  it.each(["2606:4700:4700::1111", "2a00:1450:4001:82a::200e", "2001:200::1", "2003::1", "3ffe::1"])(
    "%s is public",
    (address) => expect(kindOf(address)).toBe("allowed"),
  );

  it.each([
    ["127.0.0.1", "127.255.255.254", "::1"],
    ["10.0.0.0", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255"],
    ["169.254.0.1", "169.254.255.255", "fe80::1", "febf::1"],
    ["100.64.0.0", "100.127.255.255"],
    ["fc00::1", "fdff:ffff::1", "fec0::1", "feff::1"],
    ["198.18.0.0", "198.19.255.255"],
  ])("%s and its neighbours are private, and can be allowed", (...addresses) => {
    expect(addresses.map(kindOf)).toEqual(addresses.map(() => "inside"));
  });

  it.each([
    [
      "metadata",
      "169.254.169.254",
      "169.254.170.2",
      "100.100.100.200",
      "168.63.129.16",
      "fd00:ec2::254",
      "fd20:ce::254",
    ],
    ["unspecified", "0.0.0.0", "0.255.255.255", "::"],
    ["multicast and broadcast", "224.0.0.1", "239.255.255.255", "ff02::1", "255.255.255.255"],
    [
      "reserved",
      "192.0.0.1",
      "240.0.0.1",
      "254.255.255.255",
      "100::1",
      "2001:2::1",
      "2001:10::1",
      "4000::1",
      "5f00::1",
    ],
    ["documentation", "192.0.2.1", "198.51.100.1", "203.0.113.255", "2001:db8::1", "3fff::1"],
    ["mapped and compatible IPv4", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:a00:1", "::127.0.0.1", "::8.8.8.8"],
    ["translated IPv4", "64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::a00:1", "::ffff:0:127.0.0.1"],
    ["tunnelled IPv4", "2002:7f00:1::", "2002:808:808::1", "2001::1", "2001:0:7f00:1::", "192.88.99.1"],
    [
      "no address",
      "",
      "localhost",
      "127.1",
      "0x7f.0.0.1",
      "2130706433",
      "fe80::1%eth0",
      "::1%lo",
      "2606::1%25",
      "1.2.3",
    ],
  ])("%s is never delivered to", (_, ...addresses) => {
    expect(addresses.map(kindOf)).toEqual(addresses.map(() => "never"));
  });

  it("any spelling of an IPv6 address is judged the same", () => {
    const spelled = fc.tuple(
      fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 }),
      fc.constantFrom("fe80", "2002", "fd00"),
    );
    fc.assert(
      fc.property(spelled, ([groups, first]) => {
        const rest = groups.slice(1).map((group) => group.toString(16));
        const long = [first, ...rest]
          .map((group) => group.padStart(4, "0"))
          .join(":")
          .toUpperCase();
        expect(kindOf(long)).toBe(kindOf([first, ...rest].join(":")));
        expect(kindOf(long)).not.toBe("allowed");
      }),
    );
  });
});
