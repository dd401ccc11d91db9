import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import committedOrgPolicy from "../../../shared/org_policy.schema.json" with { type: "json" };
import committedConfig from "../../../shared/config.schema.json" with { type: "json" };
import committedPredicate from "../../../shared/predicate.schema.json" with { type: "json" };
import committedDiff from "../../../shared/diff.schema.json" with { type: "json" };
import committedReport from "../../../shared/report.schema.json" with { type: "json" };
import committedSummary from "../../../shared/summary.schema.json" with { type: "json" };
import {
  describeConfig,
  describeOrgPolicy,
  describeDiff,
  describePredicate,
  describeReport,
  describeRules,
  describeSettings,
  describeSummary,
} from "../../../tools/schemas.ts";

test.each([
  ["report.schema.json", committedReport, describeReport],
  ["diff.schema.json", committedDiff, describeDiff],
  ["summary.schema.json", committedSummary, describeSummary],
  ["config.schema.json", committedConfig, describeConfig],
  ["org_policy.schema.json", committedOrgPolicy, describeOrgPolicy],
  ["predicate.schema.json", committedPredicate, describePredicate],
])("%s is what its schema gives: `tools/schemas.ts` writes it", (_, committed, describe) => {
  expect(committed).toEqual(JSON.parse(JSON.stringify(describe())));
});

test("the generated pages of docs/reference are what their tables give", async () => {
  const page = (name: string) => readFile(join(import.meta.dirname, "../../../docs/reference", name), "utf8");
  expect(await page("settings.md")).toBe(describeSettings());
  expect(await page("rules.md")).toBe(describeRules());
});
