import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { customRolePermissions, isReadableByCustomRole } from "../../practice_org/api/custom_role.ts";
import { routes } from "../../practice_org/api/routes.ts";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { scanPracticeOrg } from "../support/scan_practice_org.ts";
import { startOrg } from "./start_org.ts";

const approval = await readFile(join(import.meta.dirname, "../../docs/approval.md"), "utf8");
const roles = ["super", "read-only", "custom"] as const;

describe("the custom role", () => {
  test("reads what Okta's permissions catalog names, and nothing else", () => {
    const refused = routes
      .filter(({ path, scope }) => scope !== null && !isReadableByCustomRole(path, new URLSearchParams()))
      .map(({ path }) => path);
    expect(refused).toEqual([
      "/api/v1/org",
      "/api/v1/org/settings/clientPrivilegesSetting",
      "/api/v1/first-party-app-settings/*",
      "/api/v1/authenticators",
      "/api/v1/authenticators/*",
      "/api/v1/zones",
      "/api/v1/zones/*",
      "/api/v1/api-tokens",
      "/api/v1/api-tokens/*",
      "/api/v1/logStreams",
      "/api/v1/logStreams/*",
      "/api/v1/logs",
    ]);
    expect(isReadableByCustomRole("/api/v1/policies", new URLSearchParams({ type: "USER_LIFECYCLE" }))).toBe(false);
    expect(isReadableByCustomRole("/api/v1/appsecrets", new URLSearchParams())).toBe(false);
  });

  test("docs/approval.md names each permission with its resources", () => {
    const lines = customRolePermissions.map(({ permission, resources }) => `| \`${permission}\` | ${resources} |`);
    expect(lines.filter((line) => !approval.includes(line))).toEqual([]);
  });
});

test("docs/approval.md lists the rules that each role decides at the practice org", async () => {
  const statuses = new Map<string, string[]>();
  for (const name of ["compliant", "typical", "edge"] as const) {
    for (const role of roles) {
      const { results } = await scanPracticeOrg(await startOrg({ profile: { name }, role }));
      for (const { vuln_id, status } of results) {
        statuses.set(`${vuln_id} ${role}`, [...(statuses.get(`${vuln_id} ${role}`) ?? []), status]);
      }
    }
  }
  const rows = Map.groupBy(catalog, ({ rule: { vuln_id } }) =>
    roles.map((role) => decides(statuses.get(`${vuln_id} ${role}`))).join(" | "),
  );
  const table = [...rows].map(
    ([cells, checks]) => `| ${checks.map(({ rule }) => rule.vuln_id).join(", ")} | ${cells} |`,
  );
  for (const line of table) expect(approval).toContain(line);
  expect(approval.match(/^\| V-2\d{5}.*$/gm)).toHaveLength(table.length);
});

/** Of the verdicts in `compliant`, where Super Administrator decides every rule, and in two orgs with failures. */
function decides([compliant, ...others]: readonly string[] = []): string {
  if (compliant !== "MANUAL") return "yes";
  if (others.includes("PASS")) return "for the apps that the role sees";
  return others.includes("FAIL") ? "only FAIL" : "no";
}
