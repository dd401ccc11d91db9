import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../../shared/canonical_json.ts";
import { chainProblem } from "../../../shared/history/verdict_changes.ts";
import type { VerdictChange } from "../../../shared/schemas/history.ts";
import { chainChanges, type ChangeDraft } from "../../support/chain_changes.ts";

const subject = { org_url: "https://acme.okta.com", check: "zones" };

function draft(status: "PASS" | "FAIL", second: number): ChangeDraft {
  const known_at = new Date(second * 1000).toISOString();
  return {
    ...subject,
    status,
    reason: null,
    not_before: null,
    known_at,
    cause: "log",
    actor: null,
    fingerprints: ["a"],
  };
}

const drafts = [draft("PASS", 1), draft("FAIL", 2), draft("PASS", 3), draft("FAIL", 4)];
const chain = await chainChanges(drafts, null);
const at = (index: number) => {
  const change = chain[index];
  if (change === undefined) throw new Error(`There is no change ${index}`);
  return change;
};
const replaced = (index: number, change: Partial<VerdictChange>) => chain.with(index, { ...at(index), ...change });

it("writes the canonical form of RFC 8785", () => {
  const value = {
    "\u20ac": 1e21,
    "\r": [0.000001, 1 / 3],
    "1": '\u000f\n"\\',
    b: { z: null, a: undefined, "": true },
  };
  expect(canonicalJson(value)).toBe(
    '{"\\r":[0.000001,0.3333333333333333],"1":"\\u000f\\n\\"\\\\","b":{"":true,"z":null},"\u20ac":1e+21}',
  );
});

describe("chainProblem", () => {
  it("accepts a whole chain, and one whose oldest changes are deleted", async () => {
    expect(await chainProblem(chain, subject)).toBeNull();
    expect(await chainProblem(chain.slice(2), subject)).toBeNull();
    const rest = await chainChanges(drafts.slice(2), at(1));
    expect(rest).toEqual(chain.slice(2));
  });

  it.each([
    ["an edited change", replaced(1, { status: "PASS" }), /change 2 of zones was edited/],
    ["another actor", replaced(1, { actor: { id: "x", login: null, name: null } }), /change 2 of zones was edited/],
    ["a change that was taken out", chain.toSpliced(1, 1), /cut: change 3 follows change 1/],
    ["two that changed places", [at(1), at(0)], /cut: change 1 follows change 2/],
    ["another org", replaced(0, { org_url: "https://globex.okta.com" }), /is of https:\/\/globex/],
    ["another rule", replaced(0, { check: "apps" }), /another rule/],
    ["a chain that begins anew", replaced(2, { previous: null }), /names no change before it/],
    ["a first change with one before it", replaced(0, { previous: at(3).digest }), /names a change before it/],
  ])("refuses %s", async (_, changes, reason) => {
    expect(await chainProblem(changes, subject)).toMatch(reason);
  });

  it("refuses a change that was written again over the one before", async () => {
    const others = await chainChanges([draft("FAIL", 9)], at(0));
    expect(await chainProblem([at(0), ...others, ...chain.slice(2)], subject)).toMatch(
      /change 3 does not follow the change 2 that is there/,
    );
  });
});
