import { expect, test } from "vitest";
import catalogFile from "../../scanner/catalog/okta_idaas_stig.json" with { type: "json" };
import { readXccdf } from "../../scanner/revisions/read_stig_file.ts";
import { tasksOf, toCatalog } from "../../tools/catalog.ts";
import { v1r1 } from "../support/stig_files.ts";

test("the catalog of DISA's V1R1 is byte for byte the built-in one, but for the rules that came later", () => {
  const made = toCatalog(readXccdf(v1r1));
  const expected = {
    ...catalogFile,
    id: "okta-idaas-stig-v1r1",
    release_info: "Release: 1 Benchmark Date: 22 Apr 2025",
    rules: catalogFile.rules.slice(0, 24),
  };
  expect(JSON.stringify(made, null, 2)).toBe(JSON.stringify(expected, null, 2));
});

test("what is left to a person is named: a text that changed, a rule that is new or gone", () => {
  const next = v1r1.replace("15 minutes.\n\nIf", "10 minutes.\n\nIf").replaceAll("273187", "000001");
  const tasks = tasksOf(readXccdf(next));
  expect(tasks).toEqual([
    "V-273186: its text changed; read the check signon_global_session_idle_timeout_15min again",
    "V-000001: new; write a check for OKTA-APP-000025",
    ...[catalogFile.rules[1], ...catalogFile.rules.slice(24)].map(
      (rule) => `${rule?.vuln_id}: gone; delete the check ${rule?.check}`,
    ),
  ]);
});
