import { expect, test } from "vitest";
import { toPrincipal, type Identity } from "../../../gateway/auth/identity.ts";

const [first, second, other] = [
  "0b0e7a52-6f0c-4f65-9a52-0d3c1c0a9b11",
  "7c9e6679-7425-40de-944b-e07fc1f90ae7",
  "f47ac10b-58cc-4372-a567-0e02b2c3d479",
] as const;

function identityOf(tenantIds: readonly string[]): Identity {
  return { kind: "user", id: "ann", name: "Ann", scopes: null, expiresAtMs: 1, onlyStream: null, tenantIds };
}

const requestWith = (tenantId?: string) =>
  new Request("http://gateway.test/", tenantId === undefined ? {} : { headers: { "x-tenant-id": tenantId } });

test("a token for one tenant needs no name of it, and may give it", () => {
  const principal = { kind: "user", tenantId: first, id: "ann", expiresAtMs: 1, onlyStream: null };
  expect(toPrincipal(identityOf([first]), requestWith())).toEqual(principal);
  expect(toPrincipal(identityOf([first]), requestWith(first))).toEqual(principal);
});

test("a token for several tenants names one with each request", () => {
  const identity = identityOf([first, second]);
  expect(toPrincipal(identity, requestWith(first)).tenantId).toBe(first);
  expect(toPrincipal(identity, requestWith(second)).tenantId).toBe(second);
  expect(() => toPrincipal(identity, requestWith())).toThrow(
    expect.objectContaining({ code: "malformed", message: expect.stringContaining("X-Tenant-Id") }),
  );
});

test("a tenant that is not the credential's is refused, in whatever form", () => {
  for (const tenantIds of [[first], [first, second]]) {
    for (const named of [other, `${first}, ${second}`, "", "null"]) {
      expect(() => toPrincipal(identityOf(tenantIds), requestWith(named))).toThrow(
        expect.objectContaining({ code: "permission_denied" }),
      );
    }
  }
});
