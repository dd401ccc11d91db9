import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import type { ArtifactName, CollectedArtifacts } from "../../scanner/evidence/artifacts.ts";
import { parseArtifacts } from "../../scanner/evidence/artifacts_document.ts";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { evaluateTraced, toContext, type FinishedScan } from "../../scanner/run_scan.ts";
import type { CheckResult } from "../../shared/report.ts";
import { scanPracticeOrg } from "../support/scan_practice_org.ts";
import type { ScriptedIdp } from "../support/scripted_idp.ts";

/** A scan of an org with hostile answers, and what has to hold of it. */

/** All checks, by the real client over HTTP. Rejects where the command would end with 3 or 4. */
export function scanOrg({ url, clientId, privateKey }: ScriptedIdp): Promise<FinishedScan> {
  return scanPracticeOrg({ url, clientId, privateKeyPem: privateKey });
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

/** Requires that the saved evidence gives the same verdicts again. */
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
