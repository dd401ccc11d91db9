import { callCommand } from "../support/called_command.ts";
import { createPrivateKey } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";
import type { Report } from "../../shared/report.ts";
import reportSchema from "../../shared/report.schema.json" with { type: "json" };
import { ownFolder } from "../support/clean_up.ts";
import { bySchema } from "../support/json_schema.ts";
import { openOrgStage, startCommandOrg, type CommandOrg } from "../support/org_stage.ts";
import { runCommand } from "../support/command_line.ts";

const readOnly = await openOrgStage({ role: "read-only" });
const cwd = readOnly.path;

function scan(env: CommandOrg["env"], ...args: readonly string[]) {
  return callCommand(["scan", ...args], { cwd, env });
}

const asReport = bySchema(reportSchema);
const parseReport = (text: string) => asReport(JSON.parse(text)) as Report;

describe("scan", () => {
  test("under Read-Only leaves what its role cannot see to a person and judges the rest", async () => {
    const { code, stdout, stderr } = await scan(readOnly.env, "--format", "json");
    const { scan: facts, checks } = parseReport(stdout);
    expect(code).toBe(1);
    expect(facts).toMatchObject({ role: "read_only_admin", engine: "identity", status: "completed" });
    expect(checks).toHaveLength(catalog.length);
    expect(checks.filter(({ reason }) => reason === "missing_role")).toHaveLength(5);
    expect(stderr).toContain(`[${catalog.length}/${catalog.length}]`);
  });

  test("however quiet, a run that fails says why in one line", async () => {
    const args = ["--check", "V-273195", "--quiet", "--format", "json", "--output", cwd];
    const { code, stderr } = await scan(readOnly.env, ...args);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^Exit 1: 1 finding failed \(--fail-on fail\): V-273195.*\n$/),
    ]);
    expect(await scan(readOnly.env, ...args, "--fail-on", "never")).toMatchObject({ code: 0, stderr: "" });
  });

  test("a scan that could not read names the next command, however quiet and to which files it is", async () => {
    const env = { ...readOnly.env, IDP_SCOPES: "policies.read" };
    const args = ["--check", "V-273204", "--check", "V-273205", "--quiet", "--format", "json", "--output", cwd];
    const { code, stderr } = await scan(env, ...args);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^Exit 3: 2 rules have no result .*\nNext: scanstream doctor\n$/);
  });

  test("a scan without an admin role exits with 3, evaluates nothing and says so as JSON", async () => {
    const org = await startCommandOrg({ role: "none" });
    const { code, stdout, stderr } = await scan(org.env, "--format", "json");
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      schema: "scanstream.error/1",
      code: "no_role",
      remedy: expect.any(String),
    });
    expect(stderr).toContain("Read-Only Administrator");
    expect(stderr).not.toContain(`[1/${catalog.length}]`);
  });
});

test("collect writes the evidence to stdout and evaluate reads it from stdin, where both are given -", async () => {
  const { stdout } = await runCommand(["collect", "--quiet", "--save-artifacts", "-"], {
    cwd,
    env: readOnly.env,
    shell: `"$@" | "\${@:1:$#-4}" evaluate --from-artifacts - --format json`,
  });
  expect((JSON.parse(stdout) as Report).checks).toHaveLength(catalog.length);
});

test("report --fresh takes decisions from stdin, and compares with the run before its own", async () => {
  const folder = await ownFolder();
  const reportFresh = async () => {
    const args = ["report", "--fresh", "--format", "json", "--baseline", "last", "--decisions", "-"];
    const shell = `echo '{"decisions": []}' | "$@"`;
    const { code, stdout, stderr } = await runCommand(args, { cwd: folder, env: readOnly.env, shell });
    expect([code, stderr]).toEqual([0, expect.not.stringContaining("empty")]);
    return JSON.parse(stdout) as Report;
  };
  const first = await reportFresh();
  expect(first.baseline).toBeNull();
  expect((await reportFresh()).baseline?.scan_id).toBe(first.scan.id);
});

describe("usage and configuration exit with 2", () => {
  test.each([
    [["scan", "--format", "table,json"], /--output/],
    [["scan", "--decisions", "missing.json"], /missing\.json.*no such file/],
    [["scan", "--fail-on-new"], /--baseline/],
    [["init"], /unknown command[^]* scanstream setup/],
    [["evaluate"], /--from-artifacts/],
    [["fix"], /--output DIR is missing/],
    [["verify", "report"], /--key FILE is missing/],
    [["scan", "--sign", "scanner.key"], /--sign needs --output DIR/],
  ])("%j", async (args, message) => {
    const { code, stdout, stderr } = await callCommand(args, { cwd, env: readOnly.env });
    expect(stderr).toMatch(message);
    expect(stdout).toBe("");
    expect(code).toBe(2);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

test("help about an unknown command names the nearest", async () => {
  const { code, stderr } = await runCommand(["help", "scann"], { cwd });
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: unknown command 'scann'\n.*Did you mean scan\?/)]);
});

/** Preloaded into the command: records where each socket connects, and lets it connect to nothing but `ALLOWED`. */
const guard = `
  import { appendFileSync } from "node:fs";
  import { Socket } from "node:net";
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function (...args) {
    const [options] = Array.isArray(args[0]) ? args[0] : args;
    const destination = \`\${options.host ?? options.path}:\${options.port}\`;
    appendFileSync("connections.txt", destination + "\\n");
    if (destination !== process.env.ALLOWED) throw new Error("The network is blocked");
    return connect.apply(this, args);
  };
`;

test("scan connects to its organization and to nothing else", async () => {
  const own = await ownFolder();
  await writeFile(join(own, "guard.mjs"), guard);
  const { host: ALLOWED } = new URL(readOnly.org.url);
  const env = { ...readOnly.env, ALLOWED, NODE_OPTIONS: "--import=./guard.mjs" };
  const args = ["scan", "--format", "all", "--output", "report", "--fail-on", "never"];
  const { code, stderr } = await runCommand(args, { cwd: own, env });
  expect(code, stderr).toBe(0);
  const connections = (await readFile(join(own, "connections.txt"), "utf8")).trim().split("\n");
  expect([...new Set(connections)]).toEqual([ALLOWED]);
});

test("no line of --verbose holds a key, an assertion, a token, a proof, a cursor or a search text", async () => {
  const large = await startCommandOrg({ profile: { name: "large", appCount: 450 } });
  const { code, stderr } = await scan(large.env, "--verbose", "--fail-on", "never");
  expect(code).toBe(0);
  const requests = stderr.split("\n").filter((line) => line.startsWith("request "));
  expect(requests).toContainEqual(expect.stringMatching(/^request GET \/api\/v1\/apps\?after=…&limit=200 200 /));
  const { d, n } = createPrivateKey(large.org.privateKeyPem).export({ format: "jwk" });
  for (const secret of [d, n, "PRIVATE KEY", "eyJ", "Bearer", "DPoP", "client_assertion"]) {
    expect(stderr).not.toContain(secret);
  }
  for (const line of requests) expect(line).not.toMatch(/(?:after|filter|q|search)=[^…]/);
});
