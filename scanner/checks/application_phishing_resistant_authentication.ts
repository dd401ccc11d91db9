import type { BuiltInApp, Evidence } from "../evidence/artifacts.ts";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { defineCheck, type CheckContext, type Explanation } from "./check.ts";
import type { ChainPath, ChainStep } from "./parsing/authentication_chains.ts";
import { adminConsole, dashboard, judgeBuiltInApp, type FirstPartyApp } from "./judging/built_in_app.ts";
import { readBoolean, readList, readWord, shown } from "./parsing/fields.ts";
import { inOrder, textsInOrder } from "./parsing/names.ts";
import { judgeVerification, type VerificationVerdict } from "./judging/verification_method.ts";

const expected = "a first rule that only phishing-resistant factors satisfy";

export const applicationAdminConsolePhishingResistantAuthentication = defineCheck({
  name: "application_admin_console_phishing_resistant_authentication",
  artifacts: ["admin_console_app"],
  explanation: explain(adminConsole),
  evaluate: ({ admin_console_app }, context) => judge(admin_console_app, adminConsole, context),
});

export const applicationDashboardPhishingResistantAuthentication = defineCheck({
  name: "application_dashboard_phishing_resistant_authentication",
  artifacts: ["dashboard_app"],
  explanation: explain(dashboard),
  evaluate: ({ dashboard_app }, context) => judge(dashboard_app, dashboard, context),
});

function judge(evidence: Evidence<BuiltInApp>, app: FirstPartyApp, context: CheckContext) {
  return judgeBuiltInApp(
    evidence,
    { app, expected, judgeRule: (subject, rule) => judgeVerification(subject, rule, { assurance, chains }) },
    context,
  );
}

/** The constraints are alternatives: one that does not demand it is the way in for a phished factor. */
function assurance(method: JsonObject): VerificationVerdict {
  const constraints = readList(method, "constraints");
  if (constraints.kind === "unreadable")
    return { verdict: "unreadable", actual: `the constraints ${constraints.found}` };
  if (constraints.kind === "absent" || constraints.value.length === 0) {
    return { verdict: "fail", actual: "no factor constraints" };
  }
  const verdicts = inOrder(constraints.value.map(judgeConstraint), ({ actual }) => actual);
  const worst =
    verdicts.find(({ verdict }) => verdict === "fail") ?? verdicts.find(({ verdict }) => verdict !== "pass");
  return worst ?? { verdict: "pass", actual: "phishing resistant REQUIRED" };
}

function judgeConstraint(constraint: unknown): VerificationVerdict {
  if (!isJsonObject(constraint)) return { verdict: "unreadable", actual: `the constraint ${shown(constraint)}` };
  const demand = readWord(constraint, "possession.phishingResistant", ["REQUIRED", "OPTIONAL"]);
  if (demand.kind === "absent") return { verdict: "fail", actual: "a constraint with phishing resistant not set" };
  if (demand.kind === "unreadable") return { verdict: "unreadable", actual: `the constraint value ${demand.found}` };
  const actual = `phishing resistant ${demand.value}`;
  if (demand.value !== "REQUIRED") return { verdict: "fail", actual };
  const required = readBoolean(constraint, "possession.required");
  if (required.kind === "unreadable")
    return { verdict: "unreadable", actual: `the possession required ${required.found}` };
  // Then it may hold only for those who use a possession factor at all.
  const isOptional = required.kind === "value" && !required.value;
  return isOptional
    ? { verdict: "review", actual: `${actual} with possession not required` }
    : { verdict: "pass", actual };
}

function chains(paths: readonly ChainPath[]): VerificationVerdict {
  const verdicts = inOrder(paths.map(judgePath), ({ actual }) => actual);
  const worst =
    verdicts.find(({ verdict }) => verdict === "fail") ??
    verdicts.find(({ verdict }) => verdict === "unreadable") ??
    verdicts.find(({ verdict }) => verdict === "review");
  return worst ?? { verdict: "pass", actual: "a phishing-resistant method in every chain" };
}

/** One step that cannot be taken without a resistant method makes the whole path resistant. */
function judgePath(path: ChainPath): VerificationVerdict {
  const steps = path.map(resistanceOf);
  const actual = `the chain ${path.map(nameStep).join(" then ")}`;
  if (steps.includes("resistant")) return { verdict: "pass", actual };
  if (!steps.includes("unknown") && !steps.includes("depends")) return { verdict: "fail", actual };
  return { verdict: steps.includes("unknown") ? "unreadable" : "review", actual };
}

function nameStep(step: ChainStep): string {
  return textsInOrder(step.map((method) => method.name)).join(" or ");
}

/** A user may choose the weakest method of a step. */
function resistanceOf(step: ChainStep): "resistant" | "open" | "depends" | "unknown" {
  const methods = step.map((method) => method.isPhishingResistant);
  if (methods.includes(false)) return "open";
  if (methods.includes("unknown")) return "unknown";
  return methods.includes("depends") ? "depends" : "resistant";
}

function explain(app: FirstPartyApp): Explanation {
  return {
    examines:
      `Whether the ${app.label} can be reached only with factors that cannot be phished, ` +
      "in the active rule of its authentication policy that comes first.",
    why:
      "Codes and push prompts are relayed by a fake sign-in page as easily as passwords. FIDO2 keys, smart cards and FastPass are " +
      "bound to the real site. Constraints are alternatives, so a single lax one undoes the others. " +
      "Where the rule names users or groups, the next rule is for the others, and the finding says how that one would be judged.",
    fix: [
      `Open Security > Authentication Policies and the policy of the ${app.label}`,
      "Choose Actions > Edit on the top rule",
      'Under "Possession factor constraints are" check "Phishing resistant" and save',
    ],
    deciding_fields: [
      `GET /api/v1/apps?filter=name eq "${app.name}": _links.accessPolicy.href`,
      "GET /api/v1/policies/{id}/rules: status, priority, actions.appSignOn.access",
      "GET /api/v1/policies/{id}/rules: conditions.people (whether the rule is for everybody)",
      "GET /api/v1/policies/{id}/rules: actions.appSignOn.verificationMethod.constraints[].possession.phishingResistant, .required",
      "GET /api/v1/policies/{id}/rules: actions.appSignOn.verificationMethod.chains[].authenticationMethods[]",
    ],
  };
}
