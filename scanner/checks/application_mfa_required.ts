import type { BuiltInApp, Evidence } from "../evidence/artifacts.ts";
import type { JsonObject } from "../../shared/json.ts";
import { defineCheck, type CheckContext, type Explanation } from "./check.ts";
import type { ChainPath, ChainStep, FactorKind } from "./parsing/authentication_chains.ts";
import { adminConsole, dashboard, judgeBuiltInApp, type FirstPartyApp } from "./judging/built_in_app.ts";
import { readWord } from "./parsing/fields.ts";
import { inOrder, textsInOrder } from "./parsing/names.ts";
import { judgeVerification, type VerificationVerdict } from "./judging/verification_method.ts";

const expected = "a first rule that demands two different factors";

export const applicationAdminConsoleMfaRequired = defineCheck({
  name: "application_admin_console_mfa_required",
  artifacts: ["admin_console_app"],
  explanation: explain(adminConsole, "Whoever signs in to the Admin Console can change everything else in the org."),
  evaluate: ({ admin_console_app }, context) => judge(admin_console_app, adminConsole, context),
});

export const applicationDashboardMfaRequired = defineCheck({
  name: "application_dashboard_mfa_required",
  artifacts: ["dashboard_app"],
  explanation: explain(dashboard, "The Dashboard is the way to every app that a user has."),
  evaluate: ({ dashboard_app }, context) => judge(dashboard_app, dashboard, context),
});

function judge(evidence: Evidence<BuiltInApp>, app: FirstPartyApp, context: CheckContext) {
  return judgeBuiltInApp(
    evidence,
    { app, expected, judgeRule: (subject, rule) => judgeVerification(subject, rule, { assurance, chains }) },
    context,
  );
}

function assurance(method: JsonObject): VerificationVerdict {
  const factorMode = readWord(method, "factorMode", ["1FA", "2FA"]);
  if (factorMode.kind === "absent") return { verdict: "fail", actual: "factor mode not set" };
  if (factorMode.kind === "unreadable") return { verdict: "unreadable", actual: `the factor mode ${factorMode.found}` };
  return { verdict: factorMode.value === "2FA" ? "pass" : "fail", actual: factorMode.value };
}

function chains(unordered: readonly ChainPath[]): VerificationVerdict {
  const paths = inOrder(unordered, describe);
  const single = paths.find((path) => factorsOf(path) === "one");
  if (single !== undefined) return { verdict: "fail", actual: `the one-factor chain ${describe(single)}` };
  const unknown = paths.find((path) => factorsOf(path) === "unknown");
  if (unknown !== undefined) return { verdict: "unreadable", actual: `the chain ${describe(unknown)}` };
  const unclear = paths.find((path) => factorsOf(path) === "unclear");
  if (unclear !== undefined) return { verdict: "review", actual: `the chain ${describe(unclear)}` };
  return { verdict: "pass", actual: `chains of two factors, ${paths.map(describe).join("; ")}` };
}

const kinds: readonly FactorKind[] = ["knowledge", "possession"];

/** A user takes the same kind in every step where every step offers it. */
function factorsOf(path: ChainPath): "one" | "two" | "unknown" | "unclear" {
  if (path.length < 2) return "one";
  const offers = (...factors: readonly ChainStep[number]["factor"][]) =>
    path.every((step) => step.some((method) => factors.includes(method.factor)));
  if (kinds.some((kind) => offers(kind))) return "one";
  if (kinds.some((kind) => offers(kind, "unclear"))) return "unclear";
  return kinds.some((kind) => offers(kind, "unclear", null)) ? "unknown" : "two";
}

function describe(path: ChainPath): string {
  return path.map((step) => textsInOrder(step.map((method) => method.name)).join(" or ")).join(" then ");
}

function explain(app: FirstPartyApp, why: string): Explanation {
  return {
    examines: `Whether the authentication policy of the ${app.label} demands two factors, in the active rule that comes first.`,
    why: `${why} A password alone is guessed, phished or bought. Where the rule names users or groups, the next rule is for the others, and the finding says how that one would be judged.`,
    fix: [
      `Open Security > Authentication Policies and the policy of the ${app.label}`,
      "Choose Actions > Edit on the top rule",
      'Set "User must authenticate with" to a choice of two factor types and save',
    ],
    deciding_fields: [
      `GET /api/v1/apps?filter=name eq "${app.name}": _links.accessPolicy.href`,
      "GET /api/v1/policies/{id}/rules: status, priority, actions.appSignOn.access",
      "GET /api/v1/policies/{id}/rules: conditions.people (whether the rule is for everybody)",
      "GET /api/v1/policies/{id}/rules: actions.appSignOn.verificationMethod.type, .factorMode, .chains",
    ],
  };
}
