import { callCommand } from "../support/called_command.ts";
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPracticeOrg } from "../../practice_org/create_practice_org.ts";
import { publishCredentials } from "../../practice_org/auth/credentials.ts";
import { reportFormats } from "../../scanner/reports/formats.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const fixtures = join(import.meta.dirname, "../fixtures/checklists");
const planned = {
  check: "authenticator_password_minimum_length_15",
  reason: "The directory's policy changes first",
  remediation_date: "2026-10-31",
  milestones: ["Approved", { description: "Rolled out", date: "2026-10-15" }],
};

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  await cp(fixtures, folder.path, { recursive: true });
  await writeFile(join(folder.path, "decisions.json"), JSON.stringify([planned]));
  const org = await createPracticeOrg({ profile: { name: "typical" }, role: "read-only" });
  const { privateKeyFile } = await publishCredentials(org, join(folder.path, "key"));
  const env = { IDP_ORG_URL: org.url, IDP_CLIENT_ID: org.clientId, IDP_PRIVATE_KEY_FILE: privateKeyFile };
  await callCommand(["collect", "--save-artifacts", "artifacts.json", "--quiet"], { cwd: folder.path, env });
  await org.stop();
});
afterAll(() => folder[Symbol.asyncDispose]());

function evaluate(...args: readonly string[]) {
  return callCommand(["evaluate", "--from-artifacts", "artifacts.json", ...args], { cwd: folder.path });
}

describe("--format all", () => {
  test("writes every format, and what a run has to say beside them stays one screen", async () => {
    const args = ["--checklist", "stig_manager.cklb", "--decisions", "decisions.json"];
    const { code, stdout, stderr } = await evaluate("--format", "all", "--output", "out", ...args);
    expect(code).toBe(1);
    expect(stdout).toBe("");
    const files = reportFormats.map(({ extension }) => `scan.${extension}`);
    expect((await readdir(join(folder.path, "out"))).toSorted()).toEqual(files.toSorted());
    const lines = stderr.trimEnd().split("\n");
    expect(lines.length).toBeLessThan(8);
    expect(lines[0]).toBe(`Wrote 14 files to out: ${files.join(", ")}`);
    expect(stderr).toContain("The checklist stig_manager.cklb is about acme.okta.com; this scan is of 127.0.0.1");
    expect(stderr).toMatch(
      /checklist answers? of stig_manager\.cklb contradicts? this scan: V-273195 \(answered Not a Finding, found Open\)/,
    );
    expect(stderr).toMatch(/findings? past the planned remediation date: V-273195 \(2026-10-31\)/);
  });
});

describe("the example of", () => {
  const page = (path: string) => readFile(join(import.meta.dirname, "../..", path), "utf8");

  test("docs/decisions.md runs as it stands there, with its plan", async () => {
    const text = await page("docs/decisions.md");
    const [, line = ""] = /^scanstream scan (--checklist .*)$/m.exec(text) ?? [];
    const [decisions = ""] = [...text.matchAll(/^```json\n(.*?)^```/gms)].flatMap(([, json = ""]) =>
      json.includes("remediation_date") ? [json] : [],
    );
    await cp(join(folder.path, "stig_manager.cklb"), join(folder.path, "okta.cklb"));
    const name = "decisions.json";
    const before = await readFile(join(folder.path, name), "utf8");
    await writeFile(join(folder.path, name), decisions);
    const { code, stderr } = await evaluate(...line.split(" "));
    await writeFile(join(folder.path, name), before);
    expect(code, stderr).toBe(1);
    expect(await readdir(join(folder.path, "report"))).toContain("scan.cklb");
    const plan = await readFile(join(folder.path, "report/scan.poam.csv"), "utf8");
    expect(plan).toContain("Approved; 2027-02-28 Rolled out to contractors");
  });
});
