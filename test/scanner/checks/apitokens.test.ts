import { describe, expect, test } from "vitest";
import {
  missing,
  obtained,
  type ApiTokenOwner,
  type Evidence,
  type JsonList,
} from "../../../scanner/evidence/artifacts.ts";
import { findCheck } from "../../../scanner/catalog/select_checks.ts";
import { aRole, aToken, aZone, evaluate, outcomeOf } from "../../support/artifact_builders.ts";

const zoned = "apitoken_restricted_to_network_zone";
const notSuper = "apitoken_not_super_admin";

describe(zoned, () => {
  const judge = (...tokens: JsonList) =>
    evaluate(zoned, { api_tokens: obtained(tokens), network_zones: obtained([aZone()]) });

  test("names the zone with its addresses, and the client that uses the token", () => {
    const agent = aToken({ id: "00T2", clientName: "Okta AD Agent" });
    expect(judge(aToken(), agent).findings.map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/zone "Offices" \(192\.0\.2\.0\/24\): a token of the client "Okta API"/),
      expect.stringMatching(/zone "Offices" \(192\.0\.2\.0\/24\): a token of the agent "Okta AD Agent"/),
    ]);
  });

  test("asks for the zones only where a token names one", () => {
    const further = (tokens: JsonList) => findCheck(zoned).conditionalArtifacts({ api_tokens: obtained(tokens) });
    expect(further([])).toEqual([]);
    expect(further([aToken({ network: { connection: "ANYWHERE", include: ["nzo1"] } })])).toEqual([]);
    expect(further([aToken()])).toEqual(["network_zones"]);
  });
});

describe(notSuper, () => {
  const inGroup = (roles: Evidence<JsonList>) => obtained([{ id: "00gEveryone", name: "Everyone", roles }]);
  const anOwner = (changes: Partial<ApiTokenOwner> = {}): ApiTokenOwner => ({
    login: "siem@acme.example",
    roles: obtained([aRole()]),
    groups: inGroup(obtained([])),
    ...changes,
  });
  const superAdmin = obtained([aRole("SUPER_ADMIN")]);
  const brokeOff = missing<never>("provider_error", "page 2 failed");

  test.each<[what: string, owner: ApiTokenOwner, outcome: string]>([
    ["the role itself", anOwner({ roles: superAdmin, groups: null }), "FAIL"],
    ["the role through a group", anOwner({ groups: inGroup(superAdmin) }), "FAIL"],
    ["roles refused, a group with the role", anOwner({ roles: brokeOff, groups: inGroup(superAdmin) }), "FAIL"],
    ["groups refused", anOwner({ groups: missing("missing_scope", "groups.read") }), "missing_scope"],
    ["no role of that kind", anOwner(), "PASS"],
  ])("$0: $2", (_, owner, outcome) => {
    expect(outcomeOf(judge(aToken(), { "00u1": owner }))).toBe(outcome);
  });

  test("names the owner by login, with the roles and the client", () => {
    const { detail } = judge(aToken(), { "00u1": anOwner() });
    expect(detail).toMatch(/the owner "siem@acme\.example" with the role READ_ONLY_ADMIN.* client "Okta API"/);
    expect(judge(aToken(), { "00u1": anOwner({ login: null }) }).detail).toContain('the owner "00u1"');
  });

  test("an owner named like a field of every object is not found there", () => {
    expect(outcomeOf(judge(aToken({ userId: "constructor" }), {}))).toBe("provider_error");
  });

  function judge(token: ReturnType<typeof aToken>, owners: Record<string, ApiTokenOwner>) {
    return evaluate(notSuper, { api_tokens: obtained([token]), api_token_owners: obtained(owners) });
  }
});
