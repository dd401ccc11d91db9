import { describe, expect, test } from "vitest";
import { missing, obtained, type ArtifactName, type CollectedArtifacts } from "../../scanner/evidence/artifacts.ts";
import { catalog, type CatalogCheck } from "../../scanner/catalog/catalog.ts";
import { findCheck } from "../../scanner/catalog/select_checks.ts";
import type { FindingDraft } from "../../scanner/checks/evaluating/finding_drafts.ts";
import { evaluateCheck, unevaluatedResult } from "../../scanner/evaluate.ts";
import { missingReasons } from "../../shared/schemas/finding.ts";
import {
  aPasswordPolicy,
  aSessionPolicy,
  aSessionRule,
  compliantArtifacts,
  context,
  outcomeOf,
} from "../support/artifact_builders.ts";

/** Every check, every artifact that it may look at, and every reason why that can be missing. */
describe("evidence that is missing", () => {
  const cells = catalog.flatMap((check) =>
    artifactsOf(check).flatMap((name) => missingReasons.map((reason) => [check.name, name, reason] as const)),
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
  const check = findCheck("V-273186");
  const judgeBy = (evaluate: CatalogCheck["evaluate"]) =>
    evaluateCheck({ ...check, artifacts: [], evaluate }, {}, context);
  const judge = (...drafts: readonly FindingDraft[]) => judgeBy(() => drafts);
  const draft = (status: "PASS" | "FAIL", id: string): FindingDraft => ({
    status,
    resource: { type: "x", id, name: id },
    expected: "e",
    actual: "a",
  });

  const throwing = (error: unknown) => () => {
    throw error as Error;
  };

  test.each<[what: string, evaluate: CatalogCheck["evaluate"]]>([
    ["an error", throwing(new TypeError("x is not a function"))],
    ["something that is no error", throwing("oops")],
    ["no finding", () => []],
  ])("a check that throws %s or gives none is MANUAL unreadable", (_, evaluate) => {
    const result = judgeBy(evaluate);
    expect(result).toMatchObject({ check: check.name, status: "MANUAL", reason: "unreadable" });
    expect(result.findings).toMatchObject([{ status: "MANUAL", reason: "unreadable", resource: { type: "org" } }]);
  });

  test("a check that could not be evaluated has the reason", () => {
    const problem = { reason: "provider_error", detail: "The scan was interrupted" } as const;
    const result = unevaluatedResult(check, problem, context);
    expect(result).toMatchObject({ status: "MANUAL", reason: "provider_error", vuln_id: "V-273186" });
    expect(result.detail).toMatch(/The scan was interrupted\.$/);
  });

  test("the status is the worst of the findings, the reason that of a MANUAL", () => {
    const manual: FindingDraft = { ...draft("PASS", "m"), status: "MANUAL", reason: "not_applicable" };
    expect(judge(draft("PASS", "a"), manual, draft("FAIL", "b"))).toMatchObject({ status: "FAIL", reason: null });
    expect(outcomeOf(judge(draft("PASS", "a"), manual))).toBe("not_applicable");
    expect(judge(manual, { ...manual, resource: null, reason: "missing_scope" })).toMatchObject({
      reason: "missing_scope",
    });
    expect(judge(draft("PASS", "a"), draft("PASS", "b")).detail).toMatch(/^2 of 2 findings pass; the first: X "a"/);
    const open = (reason: "needs_review" | "missing_scope") => ({
      ...manual,
      reason,
      resource: draft("PASS", reason).resource,
    });
    expect(judge(manual, open("needs_review"), open("missing_scope")).detail).toMatch(
      /^2 of 3 findings need manual review; the first: X "missing_scope"/,
    );
  });

  test("a sentence is open at the end of any length of evidence, unless the rule fails", () => {
    const note = "SHA-256 ".repeat(10_000);
    const part: FindingDraft = { ...draft("PASS", "1"), status: "PASS", note, uncovered: "Ask the CSSP" };
    const detailsOf = (...drafts: readonly FindingDraft[]) =>
      judge(...drafts).findings.map(({ detail }) => detail.endsWith("; Ask the CSSP."));
    expect(detailsOf(part)).toEqual([true]);
    expect(detailsOf(part, { ...draft("FAIL", "2"), resource: null })).toEqual([false, false]);
  });

  test("two findings on one resource are one, the worse", () => {
    const { findings } = judge(draft("PASS", "1"), draft("FAIL", "1"), draft("PASS", "1"));
    expect(findings.map(({ status }) => status)).toEqual(["FAIL"]);
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

  test("fingerprints are SHA-256 in hex, and differ between all findings", () => {
    const fingerprints = fingerprintsOf(compliantArtifacts());
    for (const fingerprint of fingerprints) expect(fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(fingerprints).size).toBe(fingerprints.length);
  });

  test("depend on the org, and not on verdict, wording, time, or how the org's address is written", () => {
    const lax = compliantArtifacts({
      global_session_policies: obtained([
        { policy: aSessionPolicy({ name: "Renamed" }), rules: obtained([aSessionRule({ system: true })]) },
      ]),
    });
    const before = fingerprintsOf(compliantArtifacts());
    expect(fingerprintsOf(lax)).toEqual(before);
    expect(fingerprintsOf(compliantArtifacts(), { evaluatedAt: "2027-01-01T00:00:00.000Z" })).toEqual(before);
    expect(fingerprintsOf(compliantArtifacts(), { orgUrl: "HTTPS://ACME.okta.com:443/" })).toEqual(before);
    expect(fingerprintsOf(compliantArtifacts(), { orgUrl: "https://other.okta.com" })[0]).not.toBe(before[0]);
  });
});

function artifactsOf(check: CatalogCheck): readonly ArtifactName[] {
  const further: Readonly<Record<string, readonly ArtifactName[]>> = {
    apitoken_restricted_to_network_zone: ["network_zones"],
    user_inactivity_automation_35d_enabled: ["password_policies", "apps"],
  };
  return [...check.artifacts, ...(further[check.name] ?? [])];
}
