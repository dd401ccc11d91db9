import { isHolding } from "../../shared/rule_result.ts";
import { assert, property, constantFrom, infiniteStream, jsonValue, nat } from "fast-check";
import { describe, expect, test } from "vitest";
import {
  missing,
  obtained,
  type ArtifactName,
  type CollectedArtifacts,
  type MissingReason,
} from "../../scanner/evidence/artifacts.ts";
import { isJsonObject } from "../../shared/json.ts";
import { catalog, type CatalogCheck } from "../../scanner/catalog/catalog.ts";
import { findCheck } from "../../scanner/catalog/select_checks.ts";
import type { FindingDraft } from "../../scanner/checks/check.ts";
import { evaluateCheck, unevaluatedResult } from "../../scanner/evaluate.ts";
import {
  aPasswordPolicy,
  aSessionPolicy,
  aSessionRule,
  aToken,
  anApp,
  compliantArtifacts,
  context,
  outcomeOf,
} from "../support/artifact_builders.ts";

const reasons: readonly MissingReason[] = [
  "missing_scope",
  "missing_role",
  "not_available",
  "provider_error",
  "unreadable",
];
const names = Object.keys(compliantArtifacts()) as ArtifactName[];

describe("a compliant org", () => {
  test.each(catalog.map((check) => [check.name, check] as const))("PASSes %s", (_, check) => {
    expect(evaluateCheck(check, compliantArtifacts(), context)).toSatisfy(isHolding);
  });
});

describe("an empty org, fully answered,", () => {
  const empty: CollectedArtifacts = {
    ...Object.fromEntries(names.map((name) => [name, obtained([])])),
    app_policy_rules: obtained({}),
    api_token_owners: obtained({}),
    admin_console_app: obtained({ app: null, rules: null }),
    dashboard_app: obtained({ app: null, rules: null }),
    admin_console_settings: obtained({}),
  };

  test("has one finding for the org or the app in every check, and PASSes only what asks for nothing", () => {
    const results = catalog.map((check) => evaluateCheck(check, empty, context));
    for (const result of results) expect(result.findings, result.check).toHaveLength(1);
    expect(results.filter((result) => result.status === "PASS").map((result) => result.check)).toEqual([
      "apitoken_restricted_to_network_zone",
      "apitoken_not_super_admin",
    ]);
  });
});

/** Every check, every artifact that it may look at, and every reason why that can be missing. */
describe("evidence that is missing", () => {
  const cells = catalog.flatMap((check) =>
    artifactsOf(check).flatMap((name) => reasons.map((reason) => [check.name, name, reason] as const)),
  );

  test.each(cells)("%s without %s because of %s is MANUAL for that reason", (name, artifact, reason) => {
    const artifacts = { ...undecided(name), [artifact]: missing(reason, `GET ${artifact} failed`) };
    const result = evaluateCheck(findCheck(name), artifacts, context);
    expect(result).toMatchObject({ status: "MANUAL", reason });
    expect(result.detail).toContain(`GET ${artifact} failed`);
  });

  test.each(cells.filter(([, , reason]) => reason === "provider_error"))(
    "%s with what was seen of %s before it broke off never PASSes",
    (name, artifact, reason) => {
      const whole = undecided(name)[artifact];
      const partial = whole?.state === "obtained" ? whole.value : null;
      const artifacts = { ...undecided(name), [artifact]: missing<unknown>(reason, "page 2 failed", partial) };
      const result = evaluateCheck(findCheck(name), artifacts, context);
      expect(result.status).not.toBe("PASS");
    },
  );

  test.each(catalog.map((check) => [check.name, check] as const))("%s with nothing collected is MANUAL", (_, check) => {
    const result = evaluateCheck(check, {}, context);
    expect(outcomeOf(result)).toBe("provider_error");
    expect(result.findings).toHaveLength(1);
  });

  /** Inactivity looks at a directory only where no automation complies. */
  function undecided(name: string): CollectedArtifacts {
    const isInactivity = name === "user_inactivity_automation_35d_enabled";
    return isInactivity ? compliantArtifacts({ user_lifecycle_policies: obtained([]) }) : compliantArtifacts();
  }
});

describe("whatever happens gives exactly one result", () => {
  const [check] = catalog;
  const behaving = (evaluate: CatalogCheck["evaluate"]): CatalogCheck => {
    if (check === undefined) throw new Error("The catalog is empty");
    return { ...check, artifacts: [], evaluate };
  };

  test.each<[what: string, evaluate: CatalogCheck["evaluate"]]>([
    [
      "an error",
      () => {
        throw new TypeError("x is not a function");
      },
    ],
    [
      "something that is no error",
      () => {
        throw "oops" as unknown as Error;
      },
    ],
    ["no finding", () => []],
  ])("a check that throws %s or gives none is MANUAL unreadable", (_, evaluate) => {
    const result = evaluateCheck(behaving(evaluate), {}, context);
    expect(result).toMatchObject({ check: check?.name, status: "MANUAL", reason: "unreadable" });
    expect(result.findings).toMatchObject([{ status: "MANUAL", reason: "unreadable", resource: { type: "org" } }]);
  });

  test("a check that could not be evaluated has the reason", () => {
    const result = unevaluatedResult(
      findCheck("V-273186"),
      { reason: "provider_error", detail: "The scan was interrupted" },
      context,
    );
    expect(result).toMatchObject({ status: "MANUAL", reason: "provider_error", vuln_id: "V-273186" });
    expect(result.detail).toMatch(/The scan was interrupted\.$/);
  });

  test("the status is the worst of the findings, the reason that of a MANUAL", () => {
    const draft = (status: "PASS" | "FAIL", id: string): FindingDraft => ({
      status,
      resource: { type: "x", id, name: id },
      expected: "e",
      actual: "a",
    });
    const manual: FindingDraft = { ...draft("PASS", "m"), status: "MANUAL", reason: "not_applicable" };
    const judge = (...drafts: readonly FindingDraft[]) =>
      evaluateCheck(
        behaving(() => drafts),
        {},
        context,
      );
    expect(judge(draft("PASS", "a"), manual, draft("FAIL", "b"))).toMatchObject({ status: "FAIL", reason: null });
    expect(outcomeOf(judge(draft("PASS", "a"), manual))).toBe("not_applicable");
    expect(judge(manual, { ...manual, resource: null, reason: "missing_scope" })).toMatchObject({
      reason: "missing_scope",
    });
    expect(judge(draft("PASS", "a"), draft("PASS", "b")).detail).toMatch(/^2 of 2 findings pass; the first: X "a"/);
  });

  test("a rule that fails leaves no sentence open", () => {
    const part = { resource: { type: "x", id: "1", name: "n" }, expected: "e", actual: "a", uncovered: "Ask the CSSP" };
    const detailsOf = (...drafts: readonly FindingDraft[]) =>
      evaluateCheck(
        behaving(() => drafts),
        {},
        context,
      ).findings.map(({ detail }) => detail.includes("Ask the CSSP"));
    const failing: FindingDraft = { resource: null, expected: "e", actual: "a", status: "FAIL" };
    expect(detailsOf({ ...part, status: "PASS" })).toEqual([true]);
    expect(detailsOf({ ...part, status: "PASS" }, failing)).toEqual([false, false]);
  });

  test("two findings on one resource are one, the worse", () => {
    const draft = { resource: { type: "x", id: "1", name: "n" }, expected: "e", actual: "a" };
    const drafts: readonly FindingDraft[] = [
      { ...draft, status: "PASS" },
      { ...draft, status: "FAIL" },
      { ...draft, status: "PASS" },
    ];
    const result = evaluateCheck(
      behaving(() => drafts),
      {},
      context,
    );
    expect(result.findings.map(({ status }) => status)).toEqual(["FAIL"]);
  });

  test("names of the provider cannot break the sentence", () => {
    const name = 'a"b\n\u001B[31mred\u0000';
    const artifacts = compliantArtifacts({ password_policies: obtained([aPasswordPolicy({ name })]) });
    const result = evaluateCheck(findCheck("authenticator_password_history_5"), artifacts, context);
    expect(result.findings[0]?.resource.name).toBe(name);
    expect(result.detail).toMatch(/^[^\p{Cc}]+\.$/u);
  });
});

describe("fingerprints", () => {
  const fingerprintsOf = (artifacts: CollectedArtifacts, changes: Partial<typeof context> = {}) => {
    const results = catalog.map((check) => evaluateCheck(check, artifacts, { ...context, ...changes }));
    return results.flatMap((result) => result.findings.map((finding) => finding.fingerprint));
  };

  test("are SHA-256 in hex, and differ between all findings", () => {
    const fingerprints = fingerprintsOf(compliantArtifacts());
    for (const fingerprint of fingerprints) expect(fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(fingerprints).size).toBe(fingerprints.length);
  });

  test("stay what they are: a changed one would make every finding new", () => {
    const [first] = fingerprintsOf(compliantArtifacts());
    expect(first).toBe("cbf02c2db590f6e6e32d1669c9fb4849d09849a001d9b829159236dbde52bd10");
  });

  test("do not depend on verdict, wording and time, and not on how the org's address is written", () => {
    const lax = compliantArtifacts({
      global_session_policies: obtained([
        { policy: aSessionPolicy({ name: "Renamed" }), rules: obtained([aSessionRule({ system: true })]) },
      ]),
    });
    const before = fingerprintsOf(compliantArtifacts());
    expect(fingerprintsOf(lax)).toEqual(before);
    expect(fingerprintsOf(compliantArtifacts(), { evaluatedAt: "2027-01-01T00:00:00.000Z" })).toEqual(before);
    expect(fingerprintsOf(compliantArtifacts(), { orgUrl: "HTTPS://ACME.okta.com:443/" })).toEqual(before);
  });

  test("depend on the org", () => {
    const [one] = fingerprintsOf(compliantArtifacts());
    const [other] = fingerprintsOf(compliantArtifacts(), { orgUrl: "https://other.okta.com" });
    expect(one).not.toBe(other);
  });
});

describe("the same evidence gives the same results", () => {
  const evaluateAll = (artifacts: CollectedArtifacts) =>
    catalog.map((check) => evaluateCheck(check, artifacts, context));
  const several = compliantArtifacts({
    password_policies: obtained(["b", "a", "c"].map((id) => aPasswordPolicy({ id, name: id === "b" ? "x" : "y" }))),
    apps: obtained([anApp({ id: "2" }), anApp({ id: "1" }), anApp({ id: "3", label: "A", _links: {} })]),
    api_tokens: obtained([aToken({ id: "2" }), aToken({ id: "1" })]),
  });

  test("twice", () => {
    expect(evaluateAll(several)).toEqual(evaluateAll(several));
  });

  test("after a round trip through JSON", () => {
    expect(evaluateAll(JSON.parse(JSON.stringify(several)) as CollectedArtifacts)).toEqual(evaluateAll(several));
  });

  test("in whatever order the provider lists anything", () => {
    const expected = evaluateAll(several);
    assert(
      property(infiniteStream(nat()), (numbers) => {
        const shuffle = <Value>(value: Value) => shuffled(value, () => numbers.next().value ?? 0) as Value;
        expect(evaluateAll(shuffle(several))).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  test("and leaves the evidence as it is", () => {
    const before = JSON.stringify(several);
    evaluateAll(several);
    expect(JSON.stringify(several)).toBe(before);
  });
});

describe("provider JSON that is broken anywhere", () => {
  const compliant = compliantArtifacts();
  const paths = pathsOf(compliant);

  test("never throws past evaluate, and gives every check one result with a reason where it is MANUAL", () => {
    assert(
      property(constantFrom(...paths), jsonValue({ maxDepth: 2 }), (path, value) => {
        const artifacts = replaced(compliant, path, value) as CollectedArtifacts;
        for (const check of catalog) {
          const result = evaluateCheck(check, artifacts, context);
          expect(result.findings.length).toBeGreaterThan(0);
          for (const finding of result.findings) {
            expect(finding.reason !== null, `${check.name} ${finding.detail}`).toBe(finding.status === "MANUAL");
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  test("never PASSes from a deciding field that was removed", () => {
    assert(
      property(constantFrom(...decidingPaths), ([name, path]) => {
        const artifacts = replaced(compliant, path, undefined) as CollectedArtifacts;
        const result = evaluateCheck(findCheck(name), artifacts, context);
        expect(result.status, `${name} without ${path.join(".")}`).not.toBe("PASS");
      }),
      { numRuns: decidingPaths.length * 3 },
    );
  });
});

/** Without these nothing is proven. */
const decidingPaths = [
  [
    "signon_global_session_idle_timeout_15min",
    "global_session_policies.value.0.rules.value.0.actions.signon.session.maxSessionIdleMinutes",
  ],
  ["signon_global_session_lifetime_18h", "global_session_policies.value.0.rules.value.0.actions.signon.session"],
  ["signon_global_session_cookies_not_persistent", "global_session_policies.value.0.rules.value.0.actions"],
  [
    "signon_global_session_policy_network_zone_enforced",
    "global_session_policies.value.0.rules.value.0.conditions.network.include",
  ],
  ["signon_global_session_policy_network_zone_enforced", "global_session_policies.value.0.rules.value.0"],
  ["application_admin_console_session_idle_timeout_15min", "admin_console_settings.value.sessionIdleTimeoutMinutes"],
  [
    "application_admin_console_mfa_required",
    "admin_console_app.value.rules.value.0.actions.appSignOn.verificationMethod.factorMode",
  ],
  ["application_admin_console_mfa_required", "admin_console_app.value.app._links"],
  ["application_dashboard_mfa_required", "dashboard_app.value.rules.value.0.actions.appSignOn"],
  [
    "application_dashboard_phishing_resistant_authentication",
    "dashboard_app.value.rules.value.0.actions.appSignOn.verificationMethod.constraints",
  ],
  ["application_authentication_policy_network_zone_enforced", "app_policy_rules.value.rst1.value.1"],
  ["application_authentication_policy_network_zone_enforced", "app_policy_rules.value.rst1"],
  ["application_authentication_policy_network_zone_enforced", "apps.value.2._links.accessPolicy"],
  ["authenticator_password_common_password_check", "password_policies.value.0.settings.password.complexity.dictionary"],
  ["authenticator_password_lockout_threshold_3", "password_policies.value.0.settings.password.lockout"],
  ["authenticator_password_minimum_length_15", "password_policies.value.0.settings"],
  ["authenticator_smart_card_active", "authenticators.value.0.status"],
  ["authenticator_okta_verify_fips_compliant", "authenticators.value.1.settings.compliance"],
  ["signon_dod_warning_banner_configured", "brand_sign_in_pages.value.0.page.value.content"],
  ["network_zone_block_anonymized_proxies", "network_zones.value.1.ipServiceCategories.include"],
  ["network_zone_block_anonymized_proxies", "network_zones.value.1.usage"],
  ["apitoken_restricted_to_network_zone", "api_tokens.value.0.network"],
  ["apitoken_restricted_to_network_zone", "network_zones.value.0.status"],
  ["apitoken_not_super_admin", "api_token_owners.value.00u1"],
  ["apitoken_not_super_admin", "api_tokens.value.0.userId"],
  ["user_inactivity_automation_35d_enabled", "user_lifecycle_policies.value.0.rules.value.0.actions"],
  ["user_inactivity_automation_35d_enabled", "user_lifecycle_policies.value.0.policy.conditions"],
  ["idp_smart_card_dod_approved_ca", "smart_card_idps.value.0.idp.protocol"],
  ["idp_smart_card_dod_approved_ca", "smart_card_idps.value.0.idp.status"],
].map(([name = "", path = ""]) => [name, path.split(".")] as const);

function artifactsOf(check: CatalogCheck): readonly ArtifactName[] {
  const further: Readonly<Record<string, readonly ArtifactName[]>> = {
    apitoken_restricted_to_network_zone: ["network_zones"],
    user_inactivity_automation_35d_enabled: ["password_policies", "apps"],
  };
  return [...check.artifacts, ...(further[check.name] ?? [])];
}

/** Every list in another order, wherever it is. */
function shuffled(value: unknown, next: () => number): unknown {
  if (Array.isArray(value)) {
    const keyed = value.map((item) => ({ item: shuffled(item, next), key: next() }));
    return keyed.toSorted((one, other) => one.key - other.key).map(({ item }) => item);
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shuffled(inner, next)]));
}

type Path = readonly string[];

/** Every place in the provider's JSON: inside the evidence, not the evidence's own frame. */
function pathsOf(artifacts: CollectedArtifacts): readonly Path[] {
  const paths: Path[] = [];
  for (const [name, evidence] of Object.entries(artifacts)) {
    if (evidence?.state === "obtained") walk(evidence.value, [name, "value"]);
  }
  return paths;

  function walk(value: unknown, path: Path): void {
    const isFrame =
      isJsonObject(value) &&
      ("rules" in value || "page" in value || "certificate" in value || "state" in value || "roles" in value);
    const key = path.at(-1) ?? "";
    if (!isFrame && path.length > 2 && !["value", "state", "rules", "roles", "groups"].includes(key)) paths.push(path);
    if (typeof value !== "object" || value === null) return;
    for (const [inner, child] of Object.entries(value)) walk(child, [...path, inner]);
  }
}

function replaced(value: unknown, [key, ...rest]: Path, changed: unknown): unknown {
  if (key === undefined) return changed;
  if (Array.isArray(value)) {
    const copy = value.map((item, index) => (String(index) === key ? replaced(item, rest, changed) : item));
    return copy.filter((item) => item !== undefined);
  }
  if (!isJsonObject(value)) return value;
  const made = replaced(value[key], rest, changed);
  const { [key]: _removed, ...others } = value;
  return made === undefined ? others : { ...others, [key]: made };
}
