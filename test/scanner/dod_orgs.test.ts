import { expect, test } from "vitest";
import type { Profile } from "../../practice_org/contents/profile.ts";
import type { CheckResult } from "../../shared/report.ts";
import { startOrg } from "../practice_org/start_org.ts";
import { scanPracticeOrg } from "../support/scan_practice_org.ts";

/** Orgs that followed DISA's guides: no rule of theirs may FAIL, because an auditor would find nothing. */

const roles = ["super", "read-only", "custom"] as const;

async function scan(name: Exclude<Profile["name"], "large">, role: (typeof roles)[number] = "super") {
  const { results } = await scanPracticeOrg(await startOrg({ profile: { name }, role, dpop: "off" }));
  return new Map(results.map((result) => [result.vuln_id, result]));
}

const summaryOf = ({ status, reason }: CheckResult) => (reason === null ? status : `${status} ${reason}`);

test("each rule of the profile compliant is PASS, or MANUAL with the part that a person verifies", async () => {
  const results = [...(await scan("compliant")).values()];
  expect(results).toHaveLength(29);
  const open = results.filter(({ status }) => status !== "PASS");
  expect(open.filter(({ automated }) => automated !== "PASS").map(({ vuln_id }) => vuln_id)).toEqual([]);
  expect(new Set(open.map(summaryOf))).toEqual(new Set(["MANUAL partly_automated"]));
});

test("the profile directory leaves to a person what DISA leaves to the directory, and is compliant otherwise", async () => {
  const [directory, compliant] = await Promise.all([scan("directory"), scan("compliant")]);
  const differing = [...directory].filter(
    ([id, result]) => summaryOf(result) !== summaryOf(compliant.get(id) ?? result),
  );
  expect(Object.fromEntries(differing.map(([id, result]) => [id, summaryOf(result)]))).toEqual({
    "V-273188": "MANUAL needs_review",
    "V-273189": "MANUAL needs_review",
    "V-273195": "MANUAL partly_automated",
    "V-273196": "MANUAL partly_automated",
    "V-273197": "MANUAL partly_automated",
    "V-273198": "MANUAL partly_automated",
    "V-273199": "MANUAL partly_automated",
    // No Okta Verify.
    "V-273205": "MANUAL needs_review",
  });
});

test.each(["compliant", "directory"] as const)("no rule of the profile %s FAILs under any role", async (profile) => {
  for (const role of roles) {
    const failed = [...(await scan(profile, role)).values()].filter(({ status }) => status === "FAIL");
    expect(
      failed.map(({ vuln_id }) => vuln_id),
      role,
    ).toEqual([]);
  }
});
