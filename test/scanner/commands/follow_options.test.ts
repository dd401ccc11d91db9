import { describe, expect, it } from "vitest";
import { parseFailOn } from "../../../scanner/decisions/fail_on.ts";
import { parseFollowOptions, type FollowFlags } from "../../../scanner/commands/follow_options.ts";

describe("parseFollowOptions", () => {
  it("has defaults", () => {
    expect(parseFollowOptions({})).toEqual({
      directory: ".scanstream/follow",
      intervalMs: 10_000,
      reconcileMs: 6 * 3_600_000,
      failOn: [],
      format: "table",
    });
  });

  it.each<readonly [FollowFlags, object]>([
    [{ interval: "2" }, { intervalMs: 2000 }],
    [{ interval: "3600" }, { intervalMs: 3_600_000 }],
    [{ reconcile: "0.001" }, { reconcileMs: 3600 }],
    [{ reconcile: "24" }, { reconcileMs: 86_400_000 }],
    [
      { failOn: "manual", format: "ndjson", state: "here" },
      { failOn: parseFailOn("manual"), format: "ndjson", directory: "here" },
    ],
  ])("takes %j", (flags, expected) => {
    expect(parseFollowOptions(flags)).toMatchObject(expected);
  });

  it.each<readonly [FollowFlags, RegExp]>([
    [{ interval: "1.999" }, /--interval/],
    [{ interval: "3601" }, /--interval/],
    [{ interval: "" }, /--interval/],
    [{ interval: "1e2" }, /--interval/],
    [{ reconcile: "0" }, /--reconcile/],
    [{ reconcile: "0.0009" }, /--reconcile/],
    [{ reconcile: "-1" }, /--reconcile/],
    [{ failOn: "always" }, /--fail-on "always": expected fail, manual or never/],
    [{ format: "json" }, /--format/],
    [{ state: " " }, /--state/],
  ])("refuses %j", (flags, message) => {
    expect(() => parseFollowOptions(flags)).toThrow(message);
  });
});
