import { joinChanges, rankCauses } from "../../shared/causes.ts";
import type { Cause, CheckResult, Finding } from "../../shared/report.ts";
import { decidingFindings, stateOf } from "../../shared/rule_result.ts";
import { catalog } from "../catalog/catalog.ts";
import type { CauseObject } from "../checks/evaluating/finding_drafts.ts";
import { sha256 } from "../digest.ts";
import { causeId } from "../evaluate.ts";
import { looserLimitText } from "../own_limits.ts";
import { isDeparture } from "../org_policy/document.ts";
import type { CollectedArtifacts } from "../evidence/artifacts.ts";
import { changeableObjects, type ChangeableObject } from "./cause_objects.ts";

/** The findings that fail and decide the results of their rules. */
export function rankableFailures(results: readonly CheckResult[]) {
  return results
    .filter((result) => stateOf(result) === "fail")
    .flatMap((result) => {
      const { check, vuln_id, severity, findings } = result;
      return decidingFindings(findings).map((finding) => {
        return { check, vuln_id, severity, waived: finding.waived, cause: finding.cause, result, finding };
      });
    });
}

/** The objects whose change closes failing findings that nobody waived, as `rankCauses` orders them. */
export function causesOf(results: readonly CheckResult[], artifacts: CollectedArtifacts): readonly Cause[] {
  const { causes } = rankCauses(rankableFailures(results));
  if (causes.length === 0) return [];
  const objects = new Map(changeableObjects(artifacts).map((object) => [causeId(object, sha256), object]));
  return causes.flatMap(({ id, findings, checks, closes }) => {
    const [first] = findings;
    if (first === undefined) return [];
    const object = objects.get(id) ?? objectOfFinding(first.finding);
    const byResult = new Map(findings.map(({ result, finding }) => [result, finding]));
    return {
      id,
      object: { type: object.type, id: object.id, name: object.name },
      checks: [...checks],
      closes: [...closes],
      findings: findings.length,
      fingerprints: findings.map(({ finding }) => finding.fingerprint),
      // A gateway knows only the texts of the findings: the words are the same there.
      change: joinChanges(
        [...byResult].map(([result, finding]) => finding.to_pass ?? changeOf(object, result, finding)),
      ),
    };
  });
}

/** A resource that is not an object of a list, such as the Admin Console's settings. */
function objectOfFinding({ resource: { type, id, name } }: Finding): ChangeableObject {
  return {
    type: type as CauseObject["type"],
    id,
    name,
    where: `the ${type.replaceAll("_", " ")} "${name}"`,
    isBuiltIn: false,
  };
}

/** Change that closes a rule's findings, in one sentence without its end. */
function changeOf(object: ChangeableObject, result: CheckResult, finding: Finding): string {
  // The owner of a token cannot be changed.
  const step = finding.expected.startsWith("the owner ") ? "move its application to a token of" : "change it to";
  if (isDeparture(finding)) return `In ${object.where}: ${step} ${finding.expected}`;
  return `${openingOf(object, result)} ${stepOf(object, result, finding)}`;
}

function openingOf({ type, where, isBuiltIn }: ChangeableObject, { check }: CheckResult): string {
  const isOfSession = check.startsWith("signon_global_session_");
  if (isOfSession && type === "policy") return `Add a rule at priority 1 to ${where}:`;
  // DISA does not accept the built-in rule, however strict it is: what decides has to be the one before it.
  if (isOfSession && isBuiltIn) return `Add a rule with the same conditions before ${where}:`;
  return `In ${where}:`;
}

const zonesOfApps = "application_authentication_policy_network_zone_enforced";

/** The last step in the Admin Console, by the organization's own value where it has one. */
function stepOf(
  { type, isBuiltIn }: ChangeableObject,
  { check: name, tailoring }: CheckResult,
  { expected }: Finding,
): string {
  const check = catalog.find((one) => one.name === name);
  if (tailoring !== undefined) return `make it ${expected}${looserLimitText(tailoring)}`;
  if (check === undefined) return `make it ${expected}`;
  const { fix } = check.explanation;
  const [network = "", denial = ""] = fix.slice(-2);
  if (name === zonesOfApps && type === "app")
    return "assign an authentication policy whose rules have the zones of the Access Control Policy";
  // A rule that denies is as strict as can be: with a zone it would deny fewer. Without another rule nobody could sign in.
  if (name === zonesOfApps && type === "policy")
    return `unless a rule above the Catch-all Rule allows all users, add one with its factors, after any change to them; ${asPart(network).replace("each rule", "each rule that allows")}; then ${asPart(denial)}`;
  if (name === zonesOfApps && type === "policy_rule")
    return asPart(isBuiltIn ? denial : network).replace(/^.* set /, "set ");
  return asPart(fix.findLast((step) => !step.startsWith("Or")) ?? "");
}

/** As a part of a sentence. */
function asPart(step: string): string {
  return step.replace(/,? and (?:save|publish)$/, "").replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());
}
