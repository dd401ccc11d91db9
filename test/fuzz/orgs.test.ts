import { expect, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";
import type { CheckResult } from "../../shared/report.ts";
import { createOrgGenerator } from "../verdicts/generated_orgs.ts";
import { createRandom } from "../support/random.ts";
import { fuzzed } from "./fuzzed.ts";
import { invariants, judgeAll, type Violation } from "./org_invariants.ts";

/** `npm run test:nightly` tries 100,000. */
const orgs = Number(process.env["FUZZ_ORGS"] ?? 200);

/** What violates an invariant and is known: the beginning of its class, and why it stands. */
const knownExceptions: readonly (readonly [what: RegExp, reason: string])[] = [
  [
    /user_inactivity_automation_35d_enabled, FAIL to FAIL: another order/,
    "beside what is missing it shows a list that cannot be read, as it came",
  ],
  [
    /cannot be read.*: signon_dod_warning_banner_configured, FAIL to MANUAL: .* a non-object/,
    "what cannot be read may be a brand with a domain, and then the default brand can have no page",
  ],
  [
    /signon_global_session_.*, (?:MANUAL|PASS) to FAIL: .*rules the end of the list is refused/,
    "the rule at priority 1 that was seen decides; that another one of that priority disagrees was not seen",
  ],
  [
    /what one element proves stays.*: signon_dod_warning_banner_configured, FAIL to/,
    "where another brand has a domain, the default brand can have no page, and the other one decides",
  ],
];

const longEnough = { timeout: 60_000 + orgs * 60 };

test("generated organizations keep what holds whatever the right verdicts are", longEnough, async () => {
  const random = createRandom(fuzzed(orgs).seed);
  const generate = createOrgGenerator(random);
  const found = new Map<string, { count: number; example: string }>();
  const tried = new Map<string, number>();
  const statuses = new Map<string, Set<string>>();

  for (let number = 0; number < orgs; number++) {
    const org = generate();
    const before = await judgeAll(org);
    if ([...before.keys()].join() !== everyCheck)
      note("every check appears once", { check: [...before.keys()].join() });
    for (const result of before.values()) {
      const problem = problemOf(result);
      if (problem !== null)
        note("every result is whole", { check: result.check, change: problem, example: result.detail });
    }
    for (const { check, status, automated } of before.values()) {
      statuses.set(check, (statuses.get(check) ?? new Set()).add(automated ?? status));
    }
    for (const { name, tryOn } of invariants) {
      const violations = await tryOn(org, before, random);
      if (violations === null) continue;
      tried.set(name, (tried.get(name) ?? 0) + 1);
      for (const violation of violations) note(name, violation, before.get(violation.check)?.status);
    }
  }

  for (const { name } of invariants) expect(tried.get(name) ?? 0, name).toBeGreaterThan(orgs / 4);
  for (const { name } of catalog) {
    // A SIEM that pulls the System Log can always be attested.
    const fails = name === "systemlog_streaming_enabled" ? [] : ["FAIL"];
    expect([...(statuses.get(name) ?? [])].toSorted(), name).toEqual([...fails, "MANUAL", "PASS"]);
  }
  const unknown = [...found].filter(([what]) => !knownExceptions.some(([known]) => known.test(what)));
  const unneeded = knownExceptions.filter(([known]) => ![...found.keys()].some((what) => known.test(what)));
  // The rare ones need many organizations.
  if (orgs >= 50_000) console.info("exceptions that nothing needed:", unneeded);
  expect(unknown.map(([what, { count, example }]) => `${what} (${count} times)\n    ${example}`)).toEqual([]);

  /** The smallest example of each class. */
  function note(invariant: string, violation: Partial<Violation>, before?: CheckResult["status"]) {
    const { check = "", change = "", after = "", example = "" } = violation;
    const what = `${invariant}: ${check}${before === undefined ? "" : `, ${before} to ${after}`}: ${change}`;
    const known = found.get(what);
    const smaller = known === undefined || example.length < known.example.length ? example : known.example;
    found.set(what, { count: (known?.count ?? 0) + 1, example: smaller });
  }
});

const everyCheck = catalog.map(({ name }) => name).join();

/** Without `expect`, which takes longer than the judging. */
function problemOf({ status, reason, findings, detail }: CheckResult): string | null {
  if (findings.length === 0) return "no finding";
  if (new Set(findings.map(({ fingerprint }) => fingerprint)).size < findings.length) return "a finding twice";
  if ((reason !== null) !== (status === "MANUAL")) return `${status} with the reason ${reason}`;
  // The text of a check that threw.
  if (findings.some((finding) => finding.detail.includes("The check failed on an answer"))) return "a check that threw";
  if (findings.some(({ actual }) => actual === "")) return "a finding without text";
  if (findings.some((finding) => finding.automated === "PASS" && finding.reason !== "partly_automated")) {
    return "an automated part that passed of what is not partly automated";
  }
  return detail === "" ? "a result without a sentence" : null;
}
