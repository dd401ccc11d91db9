import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { startOrg } from "../practice_org/start_org.ts";
import { ownFolder } from "../support/clean_up.ts";

const root = join(import.meta.dirname, "../..");

/** The script of a step of action.yml: the lines that are indented below `run: |`. */
async function stepScript(name: string): Promise<string> {
  const text = await readFile(join(root, "action.yml"), "utf8");
  const step = text.split(/^ {4}- /m).find((part) => part.startsWith(`name: ${name}\n`)) ?? "";
  return (/^ {6}run: \|\n((?: {8}.*\n|\n)+)/m.exec(step)?.[1] ?? "").replaceAll(/^ {8}/gm, "");
}

describe("scan step of action.yml", async () => {
  const org = await startOrg({ role: "read-only" });
  const folder = await ownFolder();

  /** An input that is not given is an empty variable. */
  const inputs = {
    FORMAT: "json,sarif",
    OUTPUT: "report",
    FAIL_ON: "fail",
    FAIL_ON_NEW: "false",
    ALLOW_UNREAD: "false",
  };
  const empty = { BASELINE: "", DECISIONS: "", ORG_POLICY: "" };

  async function scan(given: Readonly<Record<string, string>>): Promise<number> {
    const env = {
      PATH: `${join(root, "node_modules/.bin")}:${process.env["PATH"]}`,
      IDP_ORG_URL: org.url,
      IDP_CLIENT_ID: org.clientId,
      IDP_PRIVATE_KEY: org.privateKeyPem,
      GITHUB_ACTION_PATH: root,
      GITHUB_OUTPUT: join(folder, "outputs"),
      ...Object.fromEntries(
        Object.entries({ ...empty, ...inputs, ...given }).map(([name, value]) => [`INPUT_${name}`, value]),
      ),
    };
    const shell = ["--noprofile", "--norc", "-eo", "pipefail", "-c", await stepScript("Scan")];
    return promisify(execFile)("bash", shell, { cwd: folder, env }).then(
      () => 0,
      (error: { readonly code: number }) => error.code,
    );
  }

  test("writes the report into the caller's folder, and outputs its path and the counts", async () => {
    expect(await scan({})).toBe(1);
    expect(JSON.parse(await readFile(join(folder, "report/scan.json"), "utf8"))).toHaveProperty("checks");
    expect(await readFile(join(folder, "outputs"), "utf8")).toMatch(
      /^report=report\/scan\.json\nfailed=[1-9]\d*\npassed=\d+\nmanual=\d+\nnot-applicable=\d+\n$/,
    );
  });

  test("refuses an output with a line break, and writes no output of the step", async () => {
    await writeFile(join(folder, "outputs"), "");
    expect(await scan({ OUTPUT: "report\nfailed=0" })).toBe(2);
    expect(await readFile(join(folder, "outputs"), "utf8")).toBe("");
  });

  test("passes every input on, and runs none as a command", async () => {
    await writeFile(join(folder, "waivers.json"), "[]");
    await writeFile(join(folder, "outputs"), "");
    const given = { FORMAT: "junit", BASELINE: "report/scan.json", FAIL_ON_NEW: "true", DECISIONS: "waivers.json" };
    expect(await scan({ OUTPUT: "out; touch $(echo owned) `touch owned`", ...given })).toBe(0);
    await expect(readFile(join(folder, "owned"))).rejects.toThrow("ENOENT");
    expect(await readFile(join(folder, "outputs"), "utf8")).toMatch(/^failed=/);
  });
});
