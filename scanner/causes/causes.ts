import type { Cause, CheckResult, Finding } from "../../shared/report.ts";
import { stateOf } from "../../shared/rule_result.ts";
import { catalog } from "../catalog/catalog.ts";
import type { CauseObject, Check } from "../checks/check.ts";
import { causeId } from "../evaluate.ts";
import type { CollectedArtifacts } from "../evidence/artifacts.ts";
import { orgObjects, type OrgObject } from "./cause_objects.ts";

/**
 * The objects whose change closes failing findings, those first that take most rules from FAIL. Waived findings are left out.
 * `digest`: SHA-256 in hex.
 */
export function causesOf(
  results: readonly CheckResult[],
  artifacts: CollectedArtifacts,
  digest: (text: string) => string,
): readonly Cause[] {
  const failing = results.flatMap((result) => openFailures(result).map((finding) => ({ result, finding })));
  const byCause = Map.groupBy(failing, ({ finding }) => finding.cause);
  if (![...byCause.keys()].some((id) => id !== null)) return [];
  const withApps = failing.some(({ finding }) => finding.resource.type === "app");
  const objects = new Map(orgObjects(artifacts, { withApps }).map((object) => [causeId(object, digest), object]));
  const causes = [...byCause].flatMap(([id, closed]) => {
    if (id === null) return [];
    const [{ finding }] = closed as [(typeof closed)[number]];
    const touched = [...new Set(closed.map(({ result }) => result))];
    const object = objects.get(id) ?? objectOfFinding(finding);
    const cause: Cause = {
      id,
      object: { type: object.type, id: object.id, name: object.name },
      checks: touched.map(({ check }) => check),
      findings: closed.length,
      fingerprints: closed.map(({ finding: { fingerprint } }) => fingerprint),
      change: changeOf(object, touched),
    };
    const closedAlone = touched.filter((result) => openFailures(result).every((other) => other.cause === id));
    return [{ cause, closedAlone: closedAlone.length }];
  });
  return causes
    .toSorted(
      (one, other) =>
        other.closedAlone - one.closedAlone ||
        other.cause.checks.length - one.cause.checks.length ||
        (one.cause.id < other.cause.id ? -1 : 1),
    )
    .map(({ cause }) => cause);
}

/**
 * The result with what to change in each finding that a change closes. It goes by the check's own artifacts: which others are
 * there while a scan is running is chance.
 */
export function withChanges(
  check: Pick<Check, "artifacts">,
  result: CheckResult,
  { artifacts: all, digest }: { readonly artifacts: CollectedArtifacts; readonly digest: (text: string) => string },
): CheckResult {
  const artifacts: CollectedArtifacts = Object.fromEntries(check.artifacts.map((name) => [name, all[name]]));
  const changes = new Map(causesOf([result], artifacts, digest).map(({ id, change }) => [id, change]));
  if (changes.size === 0) return result;
  return {
    ...result,
    findings: result.findings.map((finding) => {
      const change = finding.cause === null ? undefined : changes.get(finding.cause);
      return change === undefined ? finding : { ...finding, to_pass: change };
    }),
  };
}

function openFailures(result: CheckResult): readonly Finding[] {
  if (stateOf(result) !== "fail") return [];
  return result.findings.filter(({ status, waived, advisory }) => status === "FAIL" && !waived && !advisory);
}

/** A resource that is no object of a list, such as the Admin Console's settings. */
function objectOfFinding({ resource: { type, id, name } }: Finding): OrgObject {
  return {
    type: type as CauseObject["type"],
    id,
    name,
    where: `the ${type.replaceAll("_", " ")} "${name}"`,
    isBuiltIn: false,
  };
}

/** Change that closes the findings, in one sentence without its end. */
function changeOf(object: OrgObject, results: readonly CheckResult[]): string {
  const steps = results.map((result) => stepOf(object, result));
  return `${openingOf(object, results)} ${[...new Set(steps)].join("; ")}`;
}

function openingOf({ type, where, isBuiltIn }: OrgObject, results: readonly CheckResult[]): string {
  const isOfSession = results.some(({ check }) => sessionLimits.test(check));
  if (isOfSession && type === "policy") return `Add a rule at priority 1 to ${where}:`;
  // DISA does not accept the built-in rule, however strict it is.
  if (isOfSession && isBuiltIn) return `Add a rule before ${where}:`;
  return `In ${where}:`;
}

const sessionLimits = /^signon_global_session_(?!policy_network)/;
const zonesOfApps = "application_authentication_policy_network_zone_enforced";

/** The last step in the Admin Console, by the organization's own value where it has one. */
function stepOf({ type, isBuiltIn }: OrgObject, { check: name, tailoring, findings }: CheckResult): string {
  const check = catalog.find((one) => one.name === name);
  if (tailoring !== undefined || check === undefined) {
    return `make it ${findings.find(({ status }) => status === "FAIL")?.expected ?? "pass"}`;
  }
  const { fix } = check.explanation;
  const [network = "", denial = ""] = fix.slice(-2);
  // A rule that denies is as strict as can be: with a zone it would deny fewer.
  if (name === zonesOfApps && type === "policy")
    return `${asPart(network).replace("each rule", "each rule that allows")}; ${asPart(denial)}`;
  if (name === zonesOfApps && type === "policy_rule")
    return asPart(isBuiltIn ? denial : network).replace(/^.* set /, "set ");
  return asPart(fix.at(-1) ?? "");
}

/** As a part of a sentence. */
function asPart(step: string): string {
  return step.replace(/,? and (?:save|publish)$/, "").replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());
}
