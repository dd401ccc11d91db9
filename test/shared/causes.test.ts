import { expect, test } from "vitest";
import { causesHeadline, closesText, joinChanges, rankCauses, type Failure } from "../../shared/causes.ts";

function failure(vulnId: string, cause: string | null, more: Partial<Failure> = {}): Failure {
  return { check: `check_${vulnId}`, vuln_id: vulnId, severity: "medium", waived: false, cause, ...more };
}

test("a change closes the rules that it closes alone, and others only together with all of their changes", () => {
  const failures = [
    failure("V-1", "shared"),
    failure("V-1", "other"),
    failure("V-2", "shared"),
    failure("V-2", "other"),
    failure("V-3", "shared"),
    failure("V-3", "other"),
    failure("V-3", "third"),
    failure("V-4", "shared"),
    failure("V-4b", "shared"),
    failure("V-5", "console", { severity: "high" }),
    // A finding that no change closes keeps its rule open.
    failure("V-6", "third"),
    failure("V-6", null),
    failure("V-7", null),
    // Waived findings count nowhere.
    failure("V-4", "waived", { waived: true }),
    failure("V-8", "waived", { waived: true }),
  ];
  const ranked = rankCauses(failures);
  expect(ranked.causes.map((cause) => `${cause.number}. ${cause.id} ${closesText(cause)}`)).toEqual([
    "1. console closes 1 rule now",
    "2. shared closes 2 rules now, 2 more together with change 3, 1 more together with changes 3 and 4",
    "3. other closes 2 rules together with change 2, 1 more together with changes 2 and 4",
    "4. third closes 1 rule together with changes 2 and 3",
  ]);
  expect(ranked.causes[1]).toMatchObject({
    closes: ["check_V-4", "check_V-4b"],
    checks: ["check_V-1", "check_V-2", "check_V-3", "check_V-4", "check_V-4b"],
  });
  for (const list of [failures, failures.slice(0, -1)])
    expect(causesHeadline(rankCauses(list))).toBe(
      "4 changes close 6 of the 8 rules that fail without a waiver; for the others, see their fixes",
    );
  expect(rankCauses(failures.toReversed()).causes.map(({ id }) => id)).toEqual(ranked.causes.map(({ id }) => id));
});

test("the steps of one place are one sentence", () => {
  expect(joinChanges(['In rule "A": set a', 'Add a rule before rule "A": set c', 'In rule "A": set b'])).toBe(
    'In rule "A": set a; set b; Add a rule before rule "A": set c',
  );
});
