import { expect, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { causesOf } from "../../scanner/causes/causes.ts";
import { evaluateCheck } from "../../scanner/evaluate.ts";
import { sha256 } from "../../scanner/digest.ts";
import type { CollectedArtifacts } from "../../scanner/evidence/artifacts.ts";
import type { CheckResult } from "../../shared/report.ts";
import { applyCause } from "../support/apply_cause.ts";
import { context } from "../support/artifact_builders.ts";
import { createOrgGenerator } from "../support/generated_orgs.ts";
import { createRandom } from "../support/random.ts";
import { scanOrg } from "../support/table_provider.ts";
import { fuzzed } from "./fuzzed.ts";

/** `npm run test:nightly` tries 10,000. */
const orgs = Number(process.env["FUZZ_ORGS"] ?? 80);

test(
  "doing what a cause says closes exactly the findings that it names",
  { timeout: 60_000 + orgs * 100 },
  async () => {
    const random = createRandom(fuzzed(orgs).seed);
    const generate = createOrgGenerator(random);
    const problems = new Map<string, string>();
    const kinds = new Map<string, number>();
    for (let number = 0; number < orgs; number += 1) {
      const { results, artifacts } = await scanOrg(generate());
      const causes = causesOf(results, artifacts, sha256);
      const failing = failingOf(results);
      const named = causes.flatMap(({ fingerprints }) => fingerprints);
      expect(new Set(named).size).toBe(named.length);
      for (const cause of causes) {
        // Okta never gives two objects one id.
        if (idsIn(artifacts).filter((id) => id === cause.object.id).length > 1) continue;
        kinds.set(cause.object.type, (kinds.get(cause.object.type) ?? 0) + 1);
        const changed = applyCause(artifacts, cause);
        if (changed === null) continue;
        const judged = judge(changed);
        const after = failingOf(judged);
        // What nobody could tell before, or can tell afterwards, was neither closed nor opened.
        const unclear = new Set([...fingerprintsOf(results, "MANUAL"), ...fingerprintsOf(judged, "MANUAL")]);
        const closedToo = [...failing.keys()].filter(
          (one) => !after.has(one) && !cause.fingerprints.includes(one) && !unclear.has(one),
        );
        const opened = [...after.keys()].filter((one) => !failing.has(one) && !unclear.has(one));
        const wrong = [
          ...cause.fingerprints.filter((one) => after.has(one)).map((one) => `still fails: ${after.get(one)}`),
          ...closedToo.map((one) => `closes too: ${failing.get(one)}`),
          ...opened.map((one) => `fails newly: ${after.get(one)}`),
        ];
        for (const text of wrong)
          problems.set(`${cause.object.type}: ${text.slice(0, 60)}`, `${cause.change}\n   ${text}`);
      }
    }
    expect([...kinds.keys()].toSorted()).toEqual(["api_token", "app", "authenticator", "policy", "policy_rule"]);
    expect([...problems.values()]).toEqual([]);
  },
);

function judge(artifacts: CollectedArtifacts): readonly CheckResult[] {
  return catalog.map((check) => evaluateCheck(check, artifacts, { ...context, digest: sha256 }));
}

function failingOf(results: readonly CheckResult[]): ReadonlyMap<string, string> {
  return new Map(
    results.flatMap(({ check, findings }) =>
      findings
        .filter(({ status }) => status === "FAIL")
        .map((one) => [one.fingerprint, `${check}: ${one.detail}`] as const),
    ),
  );
}

function fingerprintsOf(results: readonly CheckResult[], status: CheckResult["status"]): ReadonlySet<string> {
  const found = results.flatMap(({ findings }) => findings.filter((finding) => finding.status === status));
  return new Set(found.map(({ fingerprint }) => fingerprint));
}

/** The ids of all rules, in each place that shows a policy. */
function idsIn({
  global_session_policies: sessions,
  password_policies: passwords,
}: CollectedArtifacts): readonly unknown[] {
  const policies = sessions?.state === "obtained" ? sessions.value : [];
  const rules = policies.flatMap(({ rules }) => (rules?.state === "obtained" ? rules.value : []));
  const others = passwords?.state === "obtained" ? passwords.value : [];
  return [...policies.map(({ policy }) => policy), ...rules, ...others].map((object) => object?.["id"]);
}
