import { callCommand } from "../support/called_command.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startCommandGateway, type CommandGateway } from "../support/command_gateway.ts";
import { startCommand, type Outcome } from "../support/command_line.ts";
import { buildFinding, createScanProducer, type ScanProducer, type StoredFinding } from "../support/scan_producer.ts";
import { freePort } from "../support/free_port.ts";
import { problem, startScriptedServer, status } from "../support/scripted_server.ts";

/** `scans`, `findings` and what `watch` adds to one scan, against a gateway with a tenant's scans. */

const noScan = "00000000-0000-4000-8000-000000000000";
/** Sets the title of a terminal, clears it, turns the direction of text, begins lines of its own. */
const hostile = "a\u001b]0;owned\u0007\u001b[2J\u202eb\u2028c\rd\ne\u0000f";
const steersTerminal = /[^\P{Cc}\n]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

let gateway: CommandGateway;
let producer: ScanProducer;
beforeAll(async () => {
  gateway = await startCommandGateway();
  producer = createScanProducer(gateway.env["SCANSTREAM_URL"] ?? "", gateway.env["SCANSTREAM_API_KEY"] ?? "");
});
afterAll(() => gateway[Symbol.asyncDispose]());

function run(...args: readonly string[]): Promise<Outcome> {
  return callCommand(args, { cwd: gateway.folder, env: gateway.env });
}

/** A command that reads the newest scan runs before any other registers one. */
describe("scans and findings", () => {
  test("a tenant without scans has none", async () => {
    expect(await run("scans", "list")).toEqual({ code: 0, stdout: "Nothing found\n", stderr: "" });
    expect(await run("scans", "list", "--format", "json")).toEqual({ code: 0, stdout: "[]\n", stderr: "" });
    expect(await run("scans", "list", "--format", "ndjson")).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await run("watch", "--latest")).toEqual({
      code: 2,
      stdout: "",
      stderr: "--latest: the tenant has no scan yet\n",
    });
  });

  test("scans list shows the newest first, as a table, as JSON and line by line", async () => {
    const first = await producer.register({ org_url: "https://first.example" });
    const second = await producer.register({ checks_total: 29 });
    await first.end("completed", { pass: 3, fail: 2, manual: 1 });
    const { stdout } = await run("scans", "list");
    expect(stdout.split("\n").map((line) => line.replaceAll(/\S+Z/g, "TIME").split(/ {2,}/))).toEqual([
      ["SCAN", "STATUS", "CHECKS", "PASS", "FAIL", "MANUAL", "N/A", "CREATED", "ORG"],
      [second.id, "pending", "0/29", "0", "0", "0", "0", "TIME"],
      [first.id, "completed", expect.stringMatching(/^\d\/\d$/), "3", "2", "1", "0", "TIME", "https://first.example"],
      [""],
    ]);
    const json = JSON.parse((await run("scans", "list", "--format", "json")).stdout) as readonly { id: string }[];
    expect(json.map(({ id }) => id)).toEqual([second.id, first.id]);
    const lines = (await run("scans", "list", "--format", "ndjson")).stdout.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(json);
  });

  test("scans list reads page after page, up to --limit, and says that there are more", async () => {
    await Promise.all(Array.from({ length: 210 }, () => producer.register({})));
    const { stdout, stderr } = await run("scans", "list", "--format", "ndjson", "--limit", "205");
    const ids = stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { id: string }).id);
    expect(new Set(ids).size).toBe(205);
    expect(stderr).toBe("There are more scans than these 205: --limit shows them\n");
    expect((await run("scans", "list", "--limit", "212")).stderr).toBe("");
  });

  test("findings list reads every page, and only the statuses that were asked for", async () => {
    const scan = await producer.register({});
    await scan.store(Array.from({ length: 450 }, (_, index) => finding(index, index % 3 === 0 ? "FAIL" : "PASS")));
    const all = await run("findings", "list", scan.id, "--format", "ndjson");
    expect(all.stdout.trimEnd().split("\n")).toHaveLength(450);
    const failed = await run("findings", "list", "--latest", "--status", "fail,manual", "--format", "json");
    const found = JSON.parse(failed.stdout) as readonly StoredFinding[];
    expect(found).toHaveLength(150);
    expect(new Set(found.map(({ status: verdict }) => verdict))).toEqual(new Set(["FAIL"]));
    const { stdout } = await run("findings", "list", scan.id, "--status", "FAIL");
    expect(stdout).toMatch(/^STATUS {2}RULE +CAT +RESOURCE +FOUND\nFAIL +check_\d+ +CAT I /);
    expect(stdout).not.toMatch(steersTerminal);
    expect((await run("findings", "list", scan.id, "--status", "MANUAL")).stdout).toBe("Nothing found\n");
  });

  test("findings list takes every name of a rule, and keeps what does not apply apart", async () => {
    const scan = await producer.register({});
    const finding = buildFinding({ check: "apitoken_not_super_admin", status: "MANUAL", reason: "not_applicable" });
    await scan.store([finding, buildFinding({ check: "systemlog_streaming_enabled" })]);
    const list = (...args: readonly string[]) => run("findings", "list", scan.id, ...args);
    expect((await list("--status", "manual")).stdout).toBe("Nothing found\n");
    for (const args of [
      ["--status", "n/a"],
      ["--check", "V-279690,apitoken_not_super_admin"],
    ]) {
      expect((await list(...args)).stdout).toMatch(/^STATUS .*\nN\/A +V-279690 +CAT .*\n$/);
    }
    const other = await list("--check", "SV-273202r1_rule", "--format", "ndjson");
    expect(other.stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(other.stderr).toContain("SV-273202r1_rule is another revision of V-273202");
    expect(await list("--check", "V-2732020")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("did you mean"),
    });
  });
});

describe("watch", () => {
  const ends: readonly (readonly [status: string, fail: number, code: number])[] = [
    ["completed", 0, 0],
    ["completed", 1, 1],
    ["failed", 0, 1],
    ["cancelled", 0, 1],
  ];
  test.each(ends)("--exit-status of a scan that ends %s with %i failed checks is %i", async (end, fail, code) => {
    const scan = await producer.register({});
    const watching = startCommand(["watch", scan.id, "--exit-status"], { cwd: gateway.folder, env: gateway.env });
    await watching.until("stderr", /Following/);
    await scan.end(end, { pass: 1, fail, manual: 0 });
    expect((await watching.finished).code).toBe(code);
    // It has ended before the stream opens.
    const late = await run("watch", scan.id, "--exit-status");
    expect(late).toMatchObject({ code, stdout: expect.stringMatching(new RegExp(`^Scan ${end}: 1 passed, ${fail} `)) });
    expect((await run("watch", scan.id)).code).toBe(0);
  });

  test("without an id follows everything of the tenant until Ctrl-C: what is under way, and what comes", async () => {
    await using other = await startCommandGateway();
    const otherProducer = createScanProducer(other.env["SCANSTREAM_URL"] ?? "", other.env["SCANSTREAM_API_KEY"] ?? "");
    const running = await otherProducer.register({ org_url: "https://first.example", checks_total: 29 });
    const options = { cwd: other.folder, env: other.env };
    const watching = startCommand(["watch"], options);
    const ndjson = startCommand(["watch", "--format", "ndjson"], options);
    for (const command of [watching, ndjson]) await command.until("stderr", /^Following the tenant$/m);
    const next = await otherProducer.register({ org_url: "https://second.example" });
    await next.end("completed", { pass: 2, fail: 1, manual: 0 });
    await watching.until("stdout", new RegExp(`^Scan ${next.id} completed`, "m"));
    await ndjson.until("stdout", /"scan\.end"/);
    await watching.until("stdout", /^Organization second\.example: /m);
    const { code, stdout } = await watching.stop("SIGINT");
    expect(code).toBe(130);
    const lines = stdout.split("\n").filter((line) => !line.includes("pending: 0 of 0") && !line.includes(" running:"));
    // When its row changes is the gateway's own pace.
    const ofOrganizations = lines.filter((line) => line.startsWith("Organization "));
    for (const line of ofOrganizations)
      expect(line).toMatch(/^Organization (first|second)\.example: \d+ passed, .*N\/A(?:, \d+ could not be read)?$/);
    expect(lines.filter((line) => !line.startsWith("Organization "))).toEqual([
      "Scans under way: 1, monitors: 0",
      `Scan ${running.id} pending: 0 of 29 checks, 0 passed, 0 failed, 0 need manual review, 0 N/A`,
      `Scan ${next.id} registered: https://second.example`,
      `Scan ${next.id} completed: 2 passed, 1 failed, 0 need manual review, 0 N/A`,
      "",
    ]);
    const types = (await ndjson.stop("SIGINT")).stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types.filter((type) => type !== "scan.updated" && type !== "organization.updated")).toEqual([
      "tenant.snapshot",
      "scan.snapshot",
      "organization.snapshot",
      "scan.created",
      "scan.end",
    ]);
  });
});

describe("what is wrong is one line", () => {
  const wrong: readonly (readonly [args: string, message: string])[] = [
    ["scans show x", 'SCAN_ID "x": expected the UUID of a scan\n'],
    ["scans cancel x", 'SCAN_ID "x": expected the UUID of a scan\n'],
    [`scans show ${noScan}`, "Cannot show the scan: 404 No such scan\n"],
    [`findings list ${noScan}`, "Cannot list the findings: 404 No such scan\n"],
    ["findings list", "SCAN_ID is missing: expected the UUID of a scan, or --latest\n"],
    [`findings list ${noScan} --latest`, "--latest cannot be combined with SCAN_ID: give one of them\n"],
    [
      `findings list ${noScan} --status fial`,
      '--status "fial": expected one or more of pass, fail, manual, not_applicable (or n/a), separated by commas\n',
    ],
    ["watch --exit-status", "--exit-status needs SCAN_ID or --latest, because the stream of a tenant does not end\n"],
    ["watch x", 'SCAN_ID "x": expected the UUID of a scan\n'],
  ];
  test.each(wrong)("%s: exit 2", async (args, message) => {
    expect(await run(...args.split(" "))).toEqual({ code: 2, stdout: "", stderr: message });
  });

  test.each(["scans list", `scans show ${noScan}`, `findings list ${noScan}`, "watch"])(
    "%s without a gateway: exit 2",
    async (args) => {
      expect(await callCommand(args.split(" "), { cwd: gateway.folder })).toEqual({
        code: 2,
        stdout: "",
        stderr:
          "SCANSTREAM_URL and SCANSTREAM_API_KEY are not set: expected the address of a gateway, and an API key for it\n",
      });
    },
  );

  test("a key that is not valid, and a gateway that cannot be reached: exit 3", async () => {
    const refused = await callCommand(["scans", "list"], {
      cwd: gateway.folder,
      env: { ...gateway.env, SCANSTREAM_API_KEY: "scs_no" },
    });
    expect(refused).toEqual({
      code: 3,
      stdout: "",
      stderr: expect.stringMatching(/^Cannot list the scans: 401 .*\n$/),
    });
    const unreachable = await callCommand(["scans", "list"], {
      cwd: gateway.folder,
      env: { ...gateway.env, SCANSTREAM_URL: `http://127.0.0.1:${await freePort()}` },
    });
    expect(unreachable).toMatchObject({ code: 3, stdout: "" });
    expect(unreachable.stderr).toBe(
      "Cannot list the scans: the connection was refused; check SCANSTREAM_URL, and that the gateway runs\n",
    );
    // `fetch` refuses this port by itself, and gives no code.
    const blocked = { ...gateway.env, SCANSTREAM_URL: "http://127.0.0.1:1" };
    expect((await callCommand(["scans", "list"], { cwd: gateway.folder, env: blocked })).stderr).toBe(
      "Cannot list the scans: the connection failed; check SCANSTREAM_URL, and that the gateway runs\n",
    );
  });

  const answers = [
    ["a refusal", problem(500, hostile)],
    ["no JSON", status(200, {}, hostile)],
    ["no page", status(200, {}, "[]")],
  ] as const;
  test.each(answers)("a gateway that answers with %s: exit 3, and a clean line", async (_, answer) => {
    await using server = await startScriptedServer(answer);
    const env = { SCANSTREAM_URL: server.url, SCANSTREAM_API_KEY: "scs_key" };
    const { code, stdout, stderr } = await callCommand(["scans", "list"], { cwd: gateway.folder, env });
    expect(stderr).toMatch(/^Cannot list the scans: .*\n$/);
    expect(stderr).not.toMatch(steersTerminal);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  });
});

function finding(index: number, verdict: "PASS" | "FAIL"): StoredFinding {
  return {
    fingerprint: `fingerprint-${index}`,
    check: `check_${index}`,
    status: verdict,
    reason: null,
    severity: "high",
    resource_type: "app",
    resource_id: String(index),
    resource_name: `\u202e${hostile.replaceAll("\0", "")}`,
    expected: "",
    actual: "",
    detail: hostile.replaceAll("\0", ""),
  };
}
