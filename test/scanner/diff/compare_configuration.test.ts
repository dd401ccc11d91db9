import { describe, expect, test } from "vitest";
import { catalog } from "../../../scanner/catalog/catalog.ts";
import { compareConfiguration } from "../../../scanner/diff/compare_configuration.ts";
import { evaluateCheck } from "../../../scanner/evaluate.ts";
import { missing, obtained, type CollectedArtifacts } from "../../../scanner/evidence/artifacts.ts";
import { isJsonObject } from "../../../shared/json.ts";
import {
  aPasswordPolicy,
  aSessionPolicy,
  aZone,
  anApp,
  compliantArtifacts,
  context,
  set,
} from "../../support/artifact_builders.ts";

function compare(before: CollectedArtifacts, after: CollectedArtifacts) {
  return compareConfiguration([before, after], catalog, {});
}

const passwordPolicies = (...policies: ReturnType<typeof aPasswordPolicy>[]) =>
  compliantArtifacts({ password_policies: obtained(policies) });

describe("compareConfiguration", () => {
  test("changed fields, with the checks that examine the list of the object and no others", () => {
    const lax = set(aPasswordPolicy(), "settings.password.age.maxAgeDays", 90);
    const renamed = set(lax, "description", "Relaxed");
    const [change] = compare(passwordPolicies(aPasswordPolicy()), passwordPolicies(renamed)).objects;
    expect(change).toMatchObject({
      change: "changed",
      type: "policy",
      fields: [
        { path: "description", from: null, to: "Relaxed" },
        { path: "settings.password.age.maxAgeDays", from: 60, to: 90 },
      ],
    });
    expect(change?.checks).toContain("authenticator_password_maximum_age_60d");
    expect(change?.checks).not.toContain("signon_global_session_idle_timeout_15min");
  });

  test("an object that was added or removed, with the checks that read it", () => {
    const second = aPasswordPolicy({ id: "00p2", name: "Second" });
    const added = compare(passwordPolicies(aPasswordPolicy()), passwordPolicies(aPasswordPolicy(), second)).objects;
    expect(added).toMatchObject([{ change: "added", id: "00p2", name: "Second", fields: [] }]);
    expect(added[0]?.checks).toContain("authenticator_password_minimum_length_15");
    const removed = compare(passwordPolicies(aPasswordPolicy(), second), passwordPolicies(aPasswordPolicy())).objects;
    expect(removed).toMatchObject([{ change: "removed", id: "00p2" }]);
  });

  test("an object that was made anew under its name is one that changed", () => {
    const before = compliantArtifacts({ network_zones: obtained([aZone({ id: "1", name: "Offices" })]) });
    const after = compliantArtifacts({ network_zones: obtained([aZone({ id: "2", name: "Offices" })]) });
    expect(compare(before, after).objects).toMatchObject([
      { change: "changed", fields: [{ path: "id", from: "1", to: "2" }] },
    ]);
  });

  test("an app that stands in two artifacts, and a rule of its policy, change once, each with its name", () => {
    const withApp = (label: string) => {
      const app = anApp({ id: "0oaconsole", name: "saasure", label });
      const rules = obtained([{ id: "rul1", name: `Rule of ${label}` }]);
      const twice = { admin_console_app: obtained({ app, rules }), app_policy_rules: obtained({ rst1: rules }) };
      return compliantArtifacts({ apps: obtained([app]), ...twice });
    };
    const { objects } = compare(withApp("Console"), withApp("Okta"));
    expect(objects.map(({ name }) => name)).toEqual(["Okta", "Okta / Rule of Okta"]);
  });

  test("evidence that is not whole is said, and makes nothing appear or disappear", () => {
    const outage = compliantArtifacts({
      network_zones: missing("missing_scope", "403", [aZone()]),
      global_session_policies: obtained([{ policy: aSessionPolicy(), rules: missing("provider_error", "503") }]),
    });
    const { objects, evidence } = compare(compliantArtifacts(), outage);
    expect(objects).toEqual([]);
    expect(evidence).toEqual([
      { artifact: "global_session_policies/Default Policy", before: "obtained", after: "provider_error" },
      { artifact: "network_zones", before: "obtained", after: "missing_scope" },
    ]);
  });

  /** Every way in which one field can differ, in a compliant org. */
  test("a field whose change moves a verdict is said to be examined by the check that moved", () => {
    // An org whose automation is for everyone is not asked for the names of other groups.
    const { automation_groups: _, ...before } = compliantArtifacts();
    const verdicts = (artifacts: CollectedArtifacts) =>
      new Map(catalog.map((check) => [check.name, evaluateCheck(check, artifacts, context).detail]));
    const known = verdicts(before);
    let moved = 0;
    for (const [artifact, evidence] of Object.entries(before)) {
      for (const mutant of mutants(evidence)) {
        const after = { ...before, [artifact]: mutant } as CollectedArtifacts;
        const now = verdicts(after);
        const moving = catalog.map(({ name }) => name).filter((name) => now.get(name) !== known.get(name));
        const { objects, evidence: states } = compare(before, after);
        if (states.length > 0) continue;
        const concerned = new Set(objects.flatMap(({ checks }) => checks));
        for (const name of moving) expect(concerned, `${name}: ${JSON.stringify(objects)}`).toContain(name);
        moved += moving.length;
      }
    }
    expect(moved).toBeGreaterThan(100);
  });
});

/** Copies of the value in each of which one leaf differs; what is ours (state, timestamps) stays. */
function* mutants(value: unknown, name = ""): Generator<unknown> {
  if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) {
      for (const mutant of mutants(inner)) yield value.with(index, mutant);
    }
  } else if (isJsonObject(value)) {
    for (const [field, inner] of Object.entries(value)) {
      for (const mutant of mutants(inner, field)) yield { ...value, [field]: mutant };
    }
  } else if (name !== "state" && name !== "id") {
    if (typeof value === "number") yield value + 10_000;
    else if (typeof value === "boolean") yield !value;
    else if (typeof value === "string") yield `${value} changed`;
  }
}
