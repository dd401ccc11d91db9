import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { importToStigManager } from "../support/checklist_reports.ts";
import { openOrgStage, type OrgStage } from "../support/org_stage.ts";
import { v1r1, zipOf } from "../support/stig_files.ts";

let stage: OrgStage;

beforeAll(async () => {
  stage = await openOrgStage();
  expect((await run("collect", "--save-artifacts", "evidence.json")).code).toBe(0);
});

afterAll(() => stage[Symbol.asyncDispose]());

const run = (...args: readonly string[]) => stage.run(...args);
const file = (name: string) => readFile(join(stage.path, name), "utf8");

interface WrittenReport {
  readonly benchmark: string;
  readonly checks: readonly { readonly reason: string | null }[];
}

test("--benchmark DISA's zip of V1R1: its 24 rules are evaluated, and the checklist becomes one of V1R2", async () => {
  const name = "U_Okta_IDaaS_V1R1_Manual_STIG/U_Okta_IDaaS_STIG_V1R1_Manual-xccdf.xml";
  await writeFile(join(stage.path, "v1r1.zip"), zipOf({ [name]: v1r1 }));
  const evaluate = ["evaluate", "--from-artifacts", "evidence.json", "--fail-on", "never"];
  const old = ["--benchmark", "v1r1.zip", "--format", "json,ckl", "--output", "report"];
  expect((await run(...evaluate, ...old)).code).toBe(0);
  const { benchmark, checks } = JSON.parse(await file("report/scan.json")) as WrittenReport;
  expect(benchmark).toBe("okta-idaas-stig-v1r1");
  expect(checks).toHaveLength(24);
  expect(checks.filter(({ reason }) => reason === "rule_changed" || reason === "not_automated")).toEqual([]);
  const next = await run(...evaluate, "--checklist", "report/scan.ckl", "--format", "ckl", "--output", "next");
  expect(next.stderr).toContain("New in V1R2: V-279689, V-279690, V-279691, V-279692, V-279693");
  const reviews = async (path: string) => importToStigManager("ckl", await file(path)).checklists[0];
  expect(await reviews("report/scan.ckl")).toMatchObject({ benchmarkId: "Okta_IDaaS_STIG", revisionStr: "V1R1" });
  expect((await reviews("report/scan.ckl"))?.reviews).toHaveLength(24);
  expect(await reviews("next/scan.ckl")).toMatchObject({ revisionStr: "V1R2" });
  expect((await reviews("next/scan.ckl"))?.reviews).toHaveLength(29);
});
