import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isPublicAddress, targetProblem } from "../../../../gateway/features/webhooks/address.ts";

const strict = { allowPrivate: false };
const relaxed = { allowPrivate: true };

/** What no webhook may reach, each with the reason for which it is here. */
const refusedAddresses = [
  "127.0.0.1", // loopback
  "127.255.255.254",
  "0.0.0.0", // this host
  "10.0.0.1", // RFC 1918
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "169.254.169.254", // the cloud's metadata
  "169.254.170.2",
  "100.64.0.1", // carrier-grade NAT
  "100.100.100.200",
  "192.0.0.192",
  "192.0.2.1", // documentation
  "198.18.0.1", // benchmarks
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1", // multicast
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::7f00:1", // IPv4-compatible
  "::ffff:127.0.0.1", // IPv4-mapped
  "::ffff:169.254.169.254",
  "::ffff:0:7f00:1", // IPv4-translated
  "64:ff9b::7f00:1", // NAT64
  "64:ff9b::a9fe:a9fe",
  "64:ff9b:1::1",
  "2002:7f00:1::1", // 6to4
  "2001::1", // Teredo
  "2001:db8::1",
  "100::1",
  "fc00::1", // unique local
  "fd00:ec2::254",
  "fe80::1", // link-local
  "fe80::1%eth0",
  "fec0::1",
  "ff02::1",
  "4000::1", // not assigned
];

const publicAddresses = [
  "8.8.8.8",
  "1.1.1.1",
  "172.32.0.1",
  "100.128.0.1",
  "169.253.1.1",
  "2606:4700::1111",
  "::ffff:8.8.8.8",
];

describe("isPublicAddress", () => {
  test.each(refusedAddresses)("refuses %s", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each(publicAddresses)("takes %s", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test("refuses what is no address", () => {
    for (const text of ["", "localhost", "1.2.3.4.5", "::g", "8.8.8.8/8"]) expect(isPublicAddress(text)).toBe(false);
  });
});

describe("targetProblem", () => {
  test.each([
    "https://hooks.example/",
    "https://hooks.example:443/a?b=c",
    "https://hooks.example:8443",
    "https://8.8.8.8/",
    "https://[2606:4700::1111]/",
    "https://localhost.example/",
  ])("takes %s", (url) => {
    expect(targetProblem(url, strict)).toBeNull();
  });

  test.each([
    "http://hooks.example/",
    "ftp://hooks.example/",
    "javascript:alert(1)",
    "https://user@hooks.example/",
    "https://user:password@hooks.example/",
    "https://hooks.example/a#b",
    "https://hooks.example:22/",
    "https://hooks.example:80/",
    "https://hooks.example:1023/",
    "https://localhost/",
    "https://LOCALHOST./",
    "https://api.localhost/",
    "https://127.0.0.1/",
    // The same address, written as decimal, octal and hex, and with fewer parts.
    "https://2130706433/",
    "https://017700000001/",
    "https://0x7f000001/",
    "https://0x7f.1/",
    "https://127.1/",
    "https://127.0.0.1./",
    "https://１２７.０.０.１/",
    "https://0/",
    "https://[::1]/",
    "https://[::ffff:7f00:1]/",
    "https://[0:0:0:0:0:ffff:169.254.169.254]/",
    "https://[64:ff9b::169.254.169.254]/",
    "not a url",
  ])("refuses %s", (url) => {
    expect(targetProblem(url, strict)).toMatch(/^(is not|must not|uses|leads)/);
  });

  test("WEBHOOK_ALLOW_PRIVATE allows private addresses, every port and http, and never a password in the URL", () => {
    for (const url of ["http://127.0.0.1:22/", "https://[::1]/", "http://localhost:8080/x", "https://10.0.0.1/"]) {
      expect(targetProblem(url, relaxed)).toBeNull();
    }
    for (const url of ["http://a:b@127.0.0.1/", "ftp://127.0.0.1/", "file:///etc/passwd"]) {
      expect(targetProblem(url, relaxed)).not.toBeNull();
    }
  });

  test("judges an IPv4 address the same however it is written", () => {
    const parts = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
    fc.assert(
      fc.property(parts, ([a, b, c, d]) => {
        const number = ((a * 256 + b) * 256 + c) * 256 + d;
        const expected = targetProblem(`https://${a}.${b}.${c}.${d}/`, strict);
        const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
        for (const host of [number, `0x${number.toString(16)}`, `0${number.toString(8)}`, `[::ffff:${hex}]`]) {
          expect(targetProblem(`https://${host}/`, strict)).toBe(expected);
        }
      }),
    );
  });
});
