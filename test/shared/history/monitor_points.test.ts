import { describe, expect, it } from "vitest";
import { monitorPoints, type MovedFinding } from "../../../shared/history/monitor_points.ts";

const pass = { status: "PASS", reason: null } as const;
const fail = { status: "FAIL", reason: null } as const;
const ann = { id: "1", type: "User", login: "ann@acme.example", name: "Ann" };

function line(
  fingerprint: string,
  second: number,
  to: MovedFinding["to"],
  rest: Partial<MovedFinding> = {},
): MovedFinding {
  const seen_at = new Date(second * 1000).toISOString();
  return { fingerprint, to, seen_at, cause: "log", explained_by: [], ...rest };
}

describe("monitorPoints", () => {
  it("gives the worst of the findings that were seen, at each time at which one moved", () => {
    const lines = [
      line("a", 1, pass, { cause: "start" }),
      line("b", 1, pass, { cause: "start" }),
      line("a", 2, fail, { explained_by: [{ actor: ann }] }),
      line("b", 3, { status: "MANUAL", reason: "needs_review" }),
      line("a", 4, null),
    ];
    const points = monitorPoints(lines.toReversed());
    expect(points.map(({ at, status, reason, fingerprints }) => [at, status, reason, fingerprints.toSorted()])).toEqual(
      [
        [1000, "PASS", null, ["a", "b"]],
        [2000, "FAIL", null, ["a"]],
        [3000, "FAIL", null, ["a"]],
        [4000, "MANUAL", "needs_review", ["b"]],
      ],
    );
    expect(points[1]).toMatchObject({ cause: "log", actor: { id: "1", login: "ann@acme.example", name: "Ann" } });
  });

  it("believes the verdict of the rule where a line says it: a file may begin with any finding", () => {
    expect(monitorPoints([line("a", 1, pass, { rule: fail })])).toMatchObject([{ at: 1000, status: "FAIL" }]);
  });

  it("knows nothing of a rule whose findings are gone", () => {
    expect(monitorPoints([line("a", 1, pass), line("a", 2, null)])[1]).toMatchObject({ reason: "unreadable" });
  });
});
