import { describe, expect, test } from "vitest";
import {
  missing,
  obtained,
  type ApiTokenOwner,
  type Evidence,
  type JsonList,
} from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { findCheck } from "../../../scanner/catalog/select_checks.ts";
import { aRole, aToken, aZone, anAnonymizerZone, evaluate, outcomeOf } from "../../support/artifact_builders.ts";

const zoned = "apitoken_restricted_to_network_zone";
const notSuper = "apitoken_not_super_admin";
/** What an element of a list can be that should be an object. */
const nothing = null as unknown as JsonObject;
const brokeOff = missing<never>("provider_error", "page 2 failed");

describe(zoned, () => {
  const network = (value: unknown) => aToken({ network: value });
  const allZones = [
    aZone(),
    aZone({ id: "nzo2", name: "Plant" }),
    aZone({ id: "nzoOff", status: "INACTIVE" }),
    anAnonymizerZone(),
  ];

  test.each<[network: unknown, outcome: string]>([
    [{ connection: "ZONE", exclude: ["nzo1"] }, "FAIL"],
    [{ connection: "ANYWHERE", include: ["nzo1"] }, "FAIL"],
    [{ include: ["nzo1"] }, "FAIL"],
    [{ connection: "MOON", include: ["nzo1"] }, "unreadable"],
  ])("%j is %s", (value, outcome) => {
    const result = evaluate(zoned, { api_tokens: obtained([network(value)]), network_zones: obtained(allZones) });
    expect(outcomeOf(result)).toBe(outcome);
  });

  test("each token has its finding, named", () => {
    const tokens = [aToken(), aToken({ id: "00T2", name: "CI", network: { connection: "ANYWHERE" } })];
    const result = evaluate(zoned, { api_tokens: obtained(tokens), network_zones: obtained(allZones) });
    expect(result.findings.map(({ resource, status }) => [resource.name, status])).toEqual([
      ["CI", "FAIL"],
      ["SIEM export", "MANUAL"],
    ]);
  });

  test("names the zone with its addresses, and the client that uses the token", () => {
    const agent = aToken({ id: "00T2", clientName: "Okta AD Agent" });
    const result = evaluate(zoned, { api_tokens: obtained([aToken(), agent]), network_zones: obtained(allZones) });
    expect(result.findings.map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/zone "Offices" \(192\.0\.2\.0\/24\): a token of the client "Okta API"/),
      expect.stringMatching(/zone "Offices" \(192\.0\.2\.0\/24\): a token of the agent "Okta AD Agent"/),
    ]);
  });

  test.each([[{}]])("%j is no token, and an open one beside it FAILs", (element) => {
    const judgeBeside = (network: unknown) =>
      evaluate(zoned, {
        api_tokens: obtained([aToken({ network }), element]),
        network_zones: obtained(allZones),
      });
    expect(outcomeOf(judgeBeside(aToken()["network"]))).toBe("unreadable");
    expect(judgeBeside(null).status).toBe("FAIL");
  });

  test("no token PASSes for the org", () => {
    const result = evaluate(zoned, { api_tokens: obtained([]) });
    expect(result.findings).toMatchObject([{ status: "PASS", resource: { type: "org" } }]);
  });

  test.each<[what: string, partial: JsonList, status: string]>([["seen and good", [aZone()], "MANUAL"]])(
    "zones that broke off, the token's own %s: %s",
    (_, partial, status) => {
      const zones = missing("provider_error", "page 2 failed", partial);
      expect(evaluate(zoned, { api_tokens: obtained([aToken()]), network_zones: zones }).status).toBe(status);
    },
  );

  test("asks for the zones only where a token names one", () => {
    const further = (tokens: JsonList) => findCheck(zoned).conditionalArtifacts({ api_tokens: obtained(tokens) });
    expect(further([])).toEqual([]);
    expect(further([aToken({ network: { connection: "ANYWHERE", include: ["nzo1"] } })])).toEqual([]);
    expect(further([aToken()])).toEqual(["network_zones"]);
  });
});

describe(notSuper, () => {
  const everyone = (roles: Evidence<JsonList> = obtained([])) =>
    obtained([{ id: "00gEveryone", name: "Everyone", roles }]);
  const anOwner = (changes: Partial<ApiTokenOwner> = {}): ApiTokenOwner => ({
    login: "siem@acme.example",
    roles: obtained([aRole()]),
    groups: everyone(),
    ...changes,
  });

  test.each<[what: string, owner: ApiTokenOwner, outcome: string]>([
    ["the role itself", anOwner({ roles: obtained([aRole("SUPER_ADMIN")]), groups: null }), "FAIL"],
    [
      "the role by its type alone",
      anOwner({ roles: obtained([{ type: "SUPER_ADMIN", label: "Owner" }]), groups: null }),
      "FAIL",
    ],
    ["the role through a group", anOwner({ groups: everyone(obtained([aRole("SUPER_ADMIN")])) }), "FAIL"],
    ["the role, groups refused", anOwner({ roles: obtained([aRole("SUPER_ADMIN")]), groups: brokeOff }), "FAIL"],
    ["the role in what was seen", anOwner({ roles: missing("provider_error", "", [aRole("SUPER_ADMIN")]) }), "FAIL"],
    [
      "roles refused, a group with the role",
      anOwner({ roles: brokeOff, groups: everyone(obtained([aRole("SUPER_ADMIN")])) }),
      "FAIL",
    ],
    ["groups refused", anOwner({ groups: missing("missing_scope", "groups.read") }), "missing_scope"],
    ["groups not asked", anOwner({ groups: null }), "provider_error"],
    [
      "such a role beside one that proves it",
      anOwner({ roles: obtained([{ id: "ra1", label: "Helpers" }, aRole("SUPER_ADMIN")]) }),
      "FAIL",
    ],
    ["a role type of another shape", anOwner({ roles: obtained([{ type: 7, label: "x" }]) }), "unreadable"],
    [
      "a role type of another shape, with a telling label",
      anOwner({ roles: obtained([{ type: 7, label: "Super Administrator" }]) }),
      "FAIL",
    ],
    ["the role beside null", anOwner({ roles: obtained([aRole("SUPER_ADMIN"), nothing]) }), "FAIL"],
  ])("$0: $2", (_, owner, outcome) => {
    const result = judge(obtained([aToken()]), { "00u1": owner });
    expect(outcomeOf(result)).toBe(outcome);
  });

  test("each token has its finding; two of one owner have two", () => {
    const tokens = [aToken(), aToken({ id: "00T2", name: "CI" }), aToken({ id: "00T3", name: "Root", userId: "00u2" })];
    const result = judge(obtained(tokens), {
      "00u1": anOwner(),
      "00u2": anOwner({ roles: obtained([aRole("SUPER_ADMIN")]) }),
    });
    expect(result.findings.map(({ resource, status }) => [resource.name, status])).toEqual([
      ["CI", "MANUAL"],
      ["Root", "FAIL"],
      ["SIEM export", "MANUAL"],
    ]);
  });

  test("no token PASSes for the org", () => {
    expect(judge(obtained([]), {}).findings).toMatchObject([{ status: "PASS", resource: { type: "org" } }]);
  });

  test("names the owner by login, with the roles and the client", () => {
    const { detail } = judge(obtained([aToken()]), { "00u1": anOwner() });
    expect(detail).toMatch(/the owner "siem@acme\.example" with the role READ_ONLY_ADMIN.* client "Okta API"/);
    const unnamed = judge(obtained([aToken()]), { "00u1": anOwner({ login: null }) });
    expect(unnamed.detail).toContain('the owner "00u1"');
  });

  test.each([[null], [""]])("an owner %j is unreadable", (userId) => {
    expect(outcomeOf(judge(obtained([aToken({ userId })]), {}))).toBe("unreadable");
  });

  test("an owner named like a field of every object is not found there", () => {
    expect(outcomeOf(judge(obtained([aToken({ userId: "constructor" })]), {}))).toBe("provider_error");
  });

  test("tokens that broke off prove a Super Administrator's, and nothing else", () => {
    const tokens = missing("provider_error", "page 2 failed", [aToken()]);
    expect(judge(tokens, { "00u1": anOwner({ roles: obtained([aRole("SUPER_ADMIN")]) }) }).status).toBe("FAIL");
    expect(outcomeOf(judge(tokens, { "00u1": anOwner() }))).toBe("provider_error");
  });

  function judge(tokens: Evidence<JsonList>, owners: Record<string, ApiTokenOwner>) {
    return evaluate(notSuper, { api_tokens: tokens, api_token_owners: obtained(owners) });
  }
});
