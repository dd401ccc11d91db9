import { execFileSync } from "node:child_process";
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stigRuleNames } from "../../shared/rule_names.ts";
import { maxArtifactsBytes, parseArtifacts } from "../../scanner/evidence/artifacts_document.ts";
import { parseBaseline } from "../../scanner/decisions/baseline.ts";
import { parseAttestations } from "../../scanner/decisions/attestations.ts";
import { applyWaivers, parseWaivers } from "../../scanner/decisions/waivers.ts";
import { runCommand, temporaryFolder } from "../support/command_line.ts";
import { cpuMs } from "../support/cpu_ms.ts";
import { aCheckResult, aFinding, aReport } from "../support/report_builders.ts";

/** Files that come with a pull request, held against names that come from the provider: neither hangs, and neither waives by mistake. */

const check = "signon_global_session_idle_timeout_15min";
const source = { option: "--waivers", file: "waivers.json", rules: stigRuleNames };
const boundMs = 1000;

const findingsOf = (names: readonly string[]) =>
  aCheckResult({
    findings: names.map((name, index) => aFinding({ resource: { type: "policy", id: `id${index}`, name } })),
  });
const waiversOf = (...resources: readonly string[]) =>
  parseWaivers(JSON.stringify(resources.map((resource) => ({ check, reason: "x", resource }))), source);

/** Which names were waived, and how long that took. */
function waived(resources: readonly string[], names: readonly string[]) {
  const waivers = waiversOf(...resources);
  const startedMs = cpuMs();
  const { results, warnings } = applyWaivers([findingsOf(names)], waivers, 0);
  const tookMs = cpuMs() - startedMs;
  const findings = results.flatMap((result) => result.findings);
  return { names: findings.filter((finding) => finding.waived).map(({ resource }) => resource.name), warnings, tookMs };
}

describe("patterns of --waivers", () => {
  const longName = `${"a".repeat(100_000)}c`;

  test.each([
    ["stars by the hundred", `${"*a".repeat(400)}*b`],
    ["stars and question marks", `${"*?a".repeat(300)}*b`],
    ["two stars, always", `${"**a".repeat(300)}b`],
    ["a long text to look for everywhere", `*${"a".repeat(900)}b*`],
    ["extended globs", "+(a|a|aa)+(a|a|aa)+(a|a|aa)b"],
    ["nested extended globs", `${"+(".repeat(200)}a${")".repeat(200)}`],
    ["a range of a billion", "{1..1000000000}"],
    ["ranges of ranges", "{1..9999}{1..9999}{1..9999}{1..9999}"],
    ["nested braces", `${"{a,".repeat(200)}a${"}".repeat(200)}`],
    ["a class left open", "[a-"],
    ["a regular expression", "^(a+)+$"],
    ["a backslash at the end", "a*\\"],
  ])("%s take no time on a name of 100,000 characters, and waive nothing by mistake", (_, pattern) => {
    const { names, tookMs } = waived([pattern], [longName]);
    expect(names).toEqual([]);
    expect(tookMs).toBeLessThan(boundMs);
  });

  test("the same name is waived by a pattern that covers it, at any length", () => {
    for (const pattern of ["*", "a*c", `${"a".repeat(999)}*`]) {
      const { names, tookMs } = waived([pattern], [longName]);
      expect(names).toEqual([longName]);
      expect(tookMs).toBeLessThan(boundMs);
    }
  });

  test("brackets, braces and parentheses are what they are in a name, with a star behind them too", () => {
    const odd = ["[PROD] all", "{a,b}", "+(a|b)", "!x", "a\\b"];
    // What they would cover as classes, alternatives, repetitions, negations, or as any character.
    const others = ["P all", "xPROD] all", "a", "b", "ab", "x", "y", "**"];
    for (const name of odd) {
      expect(waived([name], [...odd, ...others]).names).toEqual([name]);
      expect(waived([`${name}*`], [...odd, ...others]).names).toEqual([name]);
    }
    expect(waived(["\\*\\*"], [...odd, ...others]).names).toEqual(["**"]);
  });

  test("thousands of hostile patterns and names together: a bound, a warning, and what is written out still counts", () => {
    const patterns = Array.from({ length: 5000 }, (_, index) => `*${"a?".repeat(300)}${index}`);
    const hostile = Array.from({ length: 100 }, (_, index) => `${"a".repeat(2000)}${index}z`);
    const { names, warnings, tookMs } = waived([...patterns, "id7", "My app"], [...hostile, "My app"]);
    expect(names).toEqual([hostile[7], "My app"]);
    expect(tookMs).toBeLessThan(boundMs);
    expect(warnings.at(-1)).toMatch(/take too long.*not waived/);
  });

  test("ten thousand waivers of ten thousand findings are no attack, and quick", () => {
    const numbers = Array.from({ length: 10_000 }, (_, index) => index);
    const { names, warnings, tookMs } = waived(
      numbers.map((index) => (index % 100 === 0 ? `team ${index} *` : `app ${index}`)),
      numbers.map((index) => `app ${index}`),
    );
    expect(names).toHaveLength(9900);
    expect(warnings).toHaveLength(100);
    expect(tookMs).toBeLessThan(boundMs);
  });
});

describe("files of --waivers and --attestations", () => {
  const waiver = { check, reason: "x" };

  test.each<[string, string, RegExp]>([
    [
      "a pattern of 1,001 characters",
      JSON.stringify([waiver, { ...waiver, resource: "a".repeat(1001) }]),
      /waivers\[1\]\.resource: is too long: expected 1000/,
    ],
    [
      "a pattern of a mebibyte",
      JSON.stringify([{ ...waiver, resource: "*a".repeat(524_288) }]),
      /waivers\[0\]\.resource: is too long/,
    ],
    ["a million entries", `[${'{"check":"x","reason":"y"},'.repeat(1_000_000)}0]`, /too many lists and objects/],
    [
      "10,001 entries",
      JSON.stringify(Array.from({ length: 10_001 }, () => waiver)),
      /waivers has 10001 entries: expected 10000/,
    ],
    ["nesting without end", "[".repeat(8_000_000), /nested too deep/],
    ["nesting inside an entry", `[{"check":"x","reason":${"[".repeat(100)}${"]".repeat(100)}}]`, /nested too deep/],
    [
      "a key that is given twice",
      `[{"check":"${check}","reason":"x","expires":"2026-01-01","expires":"2999-01-01"}]`,
      /the key "expires" is given twice/,
    ],
    [
      "the same, spelt in another way",
      `[{"check":"${check}","reason":"x","expires":"2026-01-01","\\u0065xpires":null}]`,
      /the key "expires" is given twice/,
    ],
    ["two lists", '{"waivers":[],"waivers":[]}', /the key "waivers" is given twice/],
    [
      "a prototype",
      `[{"check":"${check}","reason":"x","__proto__":{"resource":"nothing"}}]`,
      /waivers\[0\]\.__proto__/,
    ],
    ["a prototype that holds the list", '{"__proto__":{"waivers":[]}}', /expected a list/],
    ["a constructor", `[{"check":"${check}","reason":"x","constructor":1}]`, /waivers\[0\]\.constructor/],
    [
      "a check that is on every object",
      '[{"check":"__proto__","reason":"x"}]',
      /waivers\[0\]\.check: unknown check "__proto__"/,
    ],
    ["a day that no month has", `[{"check":"${check}","reason":"x","expires":"2026-02-30"}]`, /waivers\[0\]\.expires/],
    ["YAML that makes more of itself", "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]", /it is not JSON/],
    ["a file that was cut short", JSON.stringify([waiver]).slice(0, -9), /the file is cut short/],
  ])("%s: refused at once, saying what and where", (_, text, message) => {
    const startedMs = cpuMs();
    let problem = "";
    try {
      parseWaivers(text, source);
    } catch (error) {
      problem = String(error);
    }
    expect(problem).toMatch(message);
    expect(problem).toContain('--waivers "waivers.json"');
    expect(problem.length).toBeLessThan(500);
    expect(cpuMs() - startedMs).toBeLessThan(boundMs);
  });

  test("bounds are met from below", () => {
    expect(waiversOf("a".repeat(1000))).toHaveLength(1);
    expect(parseWaivers(JSON.stringify(Array.from({ length: 10_000 }, () => waiver)), source)).toHaveLength(10_000);
    const twice = `[{"check":"${check}","reason":"the key: \\"check\\": {"},{"check":"${check}","reason":"x"}]`;
    expect(parseWaivers(twice, source)).toHaveLength(2);
  });

  test("a file with ten thousand mistakes gives an error of bounded length", () => {
    const text = JSON.stringify(Array.from({ length: 10_000 }, () => ({ check: "x".repeat(300), reason: "x" })));
    expect(() => parseAttestations(text, source)).toThrow(/and \d{5} more$/);
    try {
      parseWaivers(text, source);
    } catch (error) {
      expect(String(error).length).toBeLessThan(6000);
    }
  });
});

describe("a baseline and saved artifacts", () => {
  const report = JSON.stringify(aReport([findingsOf(["a", "b"])]));
  const artifacts = JSON.stringify({ schema: "scanstream.artifacts/1", scan: {}, evaluated_at: "", artifacts: {} });
  const files: readonly [string, string, (text: string) => unknown][] = [
    ["a baseline", report, (text) => parseBaseline(text, "old.json")],
    ["saved artifacts", artifacts, parseArtifacts],
  ];

  test.each(files)("%s cut short anywhere is no file at all", (_, text, parse) => {
    for (let length = 0; length < text.length; length += 7) {
      expect(() => parse(text.slice(0, length))).toThrow(/^Cannot (?:use|read) .*(?:JSON|empty|short|schema)/);
    }
  });

  test.each(files)("%s of brackets only is refused before it takes memory", (_, _text, parse) => {
    const startedMs = cpuMs();
    expect(() => parse("[".repeat(50_000_000))).toThrow(/nested too deep/);
    expect(() => parse(`[${"{},".repeat(5_000_000)}{}]`)).toThrow(/too many lists and objects/);
    expect(cpuMs() - startedMs).toBeLessThan(2 * boundMs);
  });
});

describe("the command line", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    folder = await temporaryFolder();
  });
  afterAll(() => folder[Symbol.asyncDispose]());

  /** With little memory: what it does not read it need not hold. */
  const evaluate = (...args: readonly string[]) =>
    runCommand(["evaluate", ...args], { cwd: folder.path, env: { NODE_OPTIONS: "--max-old-space-size=200" } });

  test.each(["--waivers", "--attestations", "--baseline", "--threshold", "--checks", "--parameters"])(
    "a file of %s that never ends is read to its bound, and refused with 2",
    async (option) => {
      await writeFile(join(folder.path, "artifacts.json"), "{}");
      const { code, stdout, stderr } = await evaluate("--from-artifacts", "artifacts.json", option, "/dev/zero");
      expect(stderr).toMatch(
        new RegExp(`Cannot read ${option} "/dev/zero": it is too large: expected \\d+ [KM]iB at most`),
      );
      expect([code, stdout]).toEqual([2, ""]);
    },
    20_000,
  );

  test("artifacts over the bound, deep ones, and what is no text are refused with 2", async () => {
    const huge = await open(join(folder.path, "huge.json"), "w");
    await huge.truncate(maxArtifactsBytes + 1);
    await huge.close();
    await writeFile(join(folder.path, "deep.json"), "[".repeat(60_000_000));
    execFileSync("mkfifo", [join(folder.path, "pipe.json")]);
    const piped = writeFile(join(folder.path, "pipe.json"), Buffer.from([0xff, 0xfe, 0x7b, 0x00]));
    for (const [file, message] of [
      ["huge.json", /"huge\.json": it is too large: expected 256 MiB at most/],
      ["deep.json", /nested too deep/],
      ["pipe.json", /"pipe\.json": it is not UTF-8/],
    ] as const) {
      const { code, stdout, stderr } = await evaluate("--from-artifacts", file);
      expect(stderr).toMatch(message);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).not.toMatch(/\n\s+at |heap/);
    }
    await piped;
  });
});
