import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { builtInAppChecks } from "./evaluating/built_in_app.ts";
import { worstOf, type Subject, type FindingDraft } from "./evaluating/finding_drafts.ts";
import type { ChainPath, ChainStep } from "./parsing/authentication_chains.ts";
import { readBoolean, readList, readWord, showValue } from "./parsing/fields.ts";
import { sortBy } from "./parsing/names.ts";

const chainsLeft =
  'DISA names the box "Phishing resistant", and no authentication chain. Verify that the chains demand as much';

export const phishingResistantChecks = builtInAppChecks({
  suffix: "phishing_resistant_authentication",
  expected: "a first rule that only phishing-resistant factors satisfy",
  criteria: () => ({ assurance, judgePath, ifGood: () => "a phishing-resistant method in every chain", chainsLeft }),
  fields: [
    "constraints[].possession.phishingResistant",
    "constraints[].possession.required",
    "chains[].authenticationMethods[]",
  ],
});

/** The constraints are alternatives: one that does not demand it is the way in for a phished factor. */
function assurance(subject: Subject, method: JsonObject): FindingDraft {
  const constraints = readList(method, "constraints");
  if (constraints.kind === "unreadable") return subject.unreadable(`the constraints ${constraints.found}`);
  const drafts = sortBy(
    (constraints.value ?? []).map((constraint) => judgeConstraint(subject, constraint)),
    ({ actual }) => actual,
  );
  return worstOf(drafts) ?? subject.fail("no factor constraints");
}

function judgeConstraint(subject: Subject, constraint: unknown): FindingDraft {
  if (!isJsonObject(constraint)) return subject.unreadable(`the constraint ${showValue(constraint)}`);
  const demand = readWord(constraint, "possession.phishingResistant", ["REQUIRED", "OPTIONAL"]);
  if (demand.kind === "absent") return subject.fail("a constraint with phishing resistant not set");
  if (demand.kind === "unreadable") return subject.unreadable(`the constraint value ${demand.found}`);
  const actual = `phishing resistant ${demand.value}`;
  if (demand.value !== "REQUIRED") return subject.fail(actual);
  const required = readBoolean(constraint, "possession.required");
  if (required.kind === "unreadable") return subject.unreadable(`the possession required ${required.found}`);
  // Then it may hold only for those who use a possession factor at all.
  return required.value === false
    ? subject.manual("needs_review", `${actual} with possession not required`)
    : subject.pass(actual);
}

/** One step that cannot be taken without a resistant method makes the whole path resistant. */
function judgePath(subject: Subject, path: ChainPath, words: string): FindingDraft {
  const steps = path.map(resistanceOf);
  const actual = `the chain ${words}`;
  if (steps.includes("resistant")) return subject.pass(actual);
  if (steps.includes("unknown")) return subject.unreadable(actual);
  return steps.includes("depends") ? subject.manual("needs_review", actual) : subject.fail(actual);
}

/** A user may choose the weakest method of a step. */
function resistanceOf(step: ChainStep): "resistant" | "open" | "depends" | "unknown" {
  const methods = step.map((method) => method.isPhishingResistant);
  if (methods.includes(false)) return "open";
  if (methods.includes("unknown")) return "unknown";
  return methods.includes("depends") ? "depends" : "resistant";
}
