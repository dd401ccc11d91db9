import { expect, test } from "vitest";
import { momentsOf } from "../../../shared/history/observation.ts";
import { aChange, anExplanation, fail, pass } from "../../support/change_builders.ts";

const review = { status: "MANUAL", reason: "needs_review" } as const;
const at = (second: number) => new Date(second * 1000).toISOString();

test("a moment has the results that its lines state, the worst of each rule, and who caused it", () => {
  const ben = { id: "2", login: "ben@acme.example", name: "Ben" };
  const byBen = { explained_by: [anExplanation({ actor: { type: "User", ...ben } })] };
  const found = { cause: "reconciliation", explained_by: [] } as const;
  const lines = [
    aChange({ check: "a", to: pass, rule: { ...review, severity: "high" }, seen_at: at(2) }),
    aChange({ check: "a", to: fail, rule: { ...fail, severity: "high" }, seen_at: at(2), not_before: at(1), ...byBen }),
    aChange({ check: "b", to: null, rule: { ...pass, severity: "low" }, seen_at: at(2), ...found }),
    aChange({ check: "a", to: pass, rule: { ...pass, severity: "high" }, seen_at: at(1), ...found, cause: "start" }),
  ];
  const expected = [
    { at: 1000, moved: { a: { status: "PASS", severity: "high", cause: "start" } } },
    {
      at: 2000,
      moved: {
        a: { status: "FAIL", severity: "high", cause: "log", actor: ben, unseenMs: 1000 },
        b: { status: "PASS", severity: "low", cause: "reconciliation" },
      },
    },
  ];
  expect(momentsOf(lines)).toEqual(expected);
  expect(momentsOf(lines.toReversed())).toEqual(expected);
});
