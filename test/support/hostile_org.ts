import { isDeepStrictEqual } from "node:util";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "vitest";
import type { ArtifactName, CollectedArtifacts } from "../../scanner/evidence/artifacts.ts";
import { isJsonObject } from "../../shared/json.ts";
import { parseArtifacts } from "../../scanner/evidence/artifacts_document.ts";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { defaultScopes } from "../../scanner/settings/values.ts";
import { connect } from "../../scanner/okta/connection.ts";
import { reportFormats } from "../../scanner/reports/formats.ts";
import { causesOf } from "../../scanner/causes/causes.ts";
import { sha256 } from "../../scanner/digest.ts";
import { evaluateTraced, runScan, toContext, type FinishedScan } from "../../scanner/run_scan.ts";
import type { CheckResult, Report } from "../../shared/report.ts";
import { summarizeChecks } from "../../shared/rule_result.ts";
import reportSchema from "../../shared/report.schema.json" with { type: "json" };
import { configFor } from "./idp_connection.ts";
import type { ScriptedIdp } from "./scripted_idp.ts";

/** A scan of an org with hostile answers, and what has to hold of it. */

const now = () => new Date("2026-11-21T12:00:00.000Z");

/** All checks, by the real client over HTTP. Rejects where the command would end with 3 or 4. */
export function scanOrg(idp: ScriptedIdp): Promise<FinishedScan> {
  const config = configFor(idp, { scopes: defaultScopes, concurrency: 20 });
  const signal = new AbortController().signal;
  return runScan(
    { orgUrl: idp.url, clientId: idp.clientId, checks: catalog, orgPolicy: null, signal },
    { connect: (options) => connect(config, options), onResult: () => {}, now },
  );
}

/** Each check once and with findings, no verdict without evidence, and texts that every reader can carry. */
export function requireSoundResults({ results, document }: FinishedScan): void {
  expect(results.map((result) => result.check)).toEqual(catalog.map((check) => check.name));
  for (const [index, result] of results.entries()) {
    const missing = catalog[index]?.artifacts.map((name) => isNothing(document.artifacts, name)) ?? [];
    // A FAIL may be proven by what is there.
    if (missing.includes(true) && (result.status === "PASS" || (result.status === "FAIL" && !missing.includes(false))))
      throw new Error(`${result.check} is ${result.status} from no evidence`);
    if (result.findings.length === 0) throw new Error(`${result.check} has no finding`);
    if ((result.reason === null) !== (result.status !== "MANUAL"))
      throw new Error(`${result.check} has a wrong reason`);
    requireLines(result);
  }
}

/** Nothing arrived of it, not even the first pages. */
function isNothing(artifacts: CollectedArtifacts, name: ArtifactName): boolean {
  const evidence = artifacts[name];
  return evidence === undefined || (evidence.state === "missing" && evidence.partial === null);
}

const notALine = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

function requireLines(result: CheckResult): void {
  const texts = result.findings.flatMap(({ resource, expected, actual, detail }) => {
    return [resource.type, resource.id, resource.name, expected, actual, detail];
  });
  const odd = [result.detail, ...texts].find((text) => notALine.test(text) || text.length > 5000);
  if (odd !== undefined) throw new Error(`${result.check} holds ${JSON.stringify(odd.slice(0, 200))}`);
}

/** What was saved gives the same verdicts again. */
export async function requireSameFromFile({ results, document }: FinishedScan): Promise<void> {
  const saved = parseArtifacts(JSON.stringify(document));
  const { engine, org_url: orgUrl } = saved.scan;
  const context = toContext({ engine, orgUrl, evaluatedAt: saved.evaluated_at, orgPolicy: null });
  for (const [index, check] of catalog.entries()) {
    const again = evaluateTraced(check, saved.artifacts, { context, trace: undefined });
    // `toEqual` names the difference, but takes ten times as long for a hundred thousand findings.
    if (!isDeepStrictEqual(again, results[index])) expect(again, check.name).toEqual(results[index]);
  }
}

const ajv = new Ajv2020({ allErrors: false });
addFormats.default(ajv);
const isReport = ajv.compile(reportSchema);

/** Every format is written, and the JSON matches its schema; at most `maxFindings` of each check. */
export function requireReports({ results, document, status }: FinishedScan, maxFindings = Infinity): void {
  const checks = results.map((result) => ({ ...result, findings: result.findings.slice(0, maxFindings) }));
  const report: Report = {
    schema: "scanstream.report/1",
    scan: { id: "7b0a6f0e-6f3c-4a0c-9a46-3f4c0d7a1b11", tenant_id: null, ...document.scan, status },
    summary: summarizeChecks(checks),
    checks,
    baseline: null,
    causes: causesOf(checks, document.artifacts, sha256),
  };
  for (const format of reportFormats) {
    const text = format.render(report, { color: false, width: 100, toolVersion: "1.2.3" });
    expect(text.isWellFormed(), format.name).toBe(true);
    expect(text.includes("\0"), format.name).toBe(false);
    if (format.name !== "json") continue;
    const parsed: unknown = JSON.parse(text);
    expect(isReport(parsed), JSON.stringify(isReport.errors?.slice(0, 3))).toBe(true);
    expect(isJsonObject(parsed)).toBe(true);
  }
}
