import { policyWithRules, type PolicySpec, type RuleSpec } from "./policy_objects.ts";
import { anywhere } from "./sign_on_policies.ts";
import type { PolicyWithRules, Site } from "./org_contents.ts";
import type { JsonObject } from "../../shared/json.ts";

interface AccessRule {
  readonly name: string;
  readonly priority: number;
  readonly status?: string;
  readonly access?: "ALLOW" | "DENY";
  readonly network?: JsonObject;
  readonly verification: JsonObject;
}

/** Application sign-on policies all have priority 1: an app is bound to one of them, they do not compete. */
export function accessPolicy(
  site: Site,
  spec: Pick<PolicySpec, "name" | "description" | "system" | "rules">,
): PolicyWithRules {
  return policyWithRules(site, { ...spec, type: "ACCESS_POLICY", priority: 1, conditions: null });
}

/** The priorities of these rules start at 0. */
export function accessRule(rule: AccessRule): RuleSpec {
  return {
    name: rule.name,
    priority: rule.priority,
    ...(rule.status === undefined ? {} : { status: rule.status }),
    conditions: {
      people: { users: { exclude: [] } },
      network: rule.network ?? anywhere,
      riskScore: { level: "ANY" },
      userType: { include: [], exclude: [] },
    },
    actions: appSignOn(rule.access ?? "ALLOW", rule.verification),
  };
}

/** The rule that applies when no other does; it always comes last, at 99. */
export function catchAllRule(access: "ALLOW" | "DENY", verification: JsonObject = anyTwoFactors): RuleSpec {
  return {
    name: "Catch-all Rule",
    priority: 99,
    system: true,
    conditions: null,
    actions: appSignOn(access, verification),
  };
}

/** Two factors of any kind, the possession factor bound to a device. */
export const anyTwoFactors: JsonObject = assurance("2FA", [
  { possession: { required: true, deviceBound: "REQUIRED" } },
]);

/** A password, and nothing else. */
export const passwordOnly: JsonObject = assurance("1FA", [
  { knowledge: { required: true, types: ["password"], reauthenticateIn: "PT2H" } },
]);

/** Any of the constraints satisfies the rule, and each of them asks for a phishing-resistant authenticator. */
export const phishingResistant: JsonObject = assurance("2FA", [
  {
    knowledge: { required: false, types: ["password"], reauthenticateIn: "PT2H" },
    possession: { required: true, deviceBound: "REQUIRED", phishingResistant: "REQUIRED", userPresence: "REQUIRED" },
  },
  {
    possession: {
      required: true,
      deviceBound: "REQUIRED",
      hardwareProtection: "REQUIRED",
      phishingResistant: "REQUIRED",
      userPresence: "REQUIRED",
      userVerification: "REQUIRED",
    },
  },
]);

/** A password followed by a chosen authenticator, as an authentication method chain. */
export function methodChain(...steps: readonly JsonObject[]): JsonObject {
  const [first, ...rest] = steps.map((step) => ({ authenticationMethods: [step] }));
  return {
    type: "AUTH_METHOD_CHAIN",
    chains: [{ ...first, ...(rest.length === 0 ? {} : { next: rest }) }],
    reauthenticateIn: "PT0S",
  };
}

function assurance(factorMode: "1FA" | "2FA", constraints: readonly JsonObject[]): JsonObject {
  return { factorMode, type: "ASSURANCE", reauthenticateIn: "PT2H", constraints };
}

function appSignOn(access: "ALLOW" | "DENY", verificationMethod: JsonObject): JsonObject {
  return { appSignOn: { access, verificationMethod, keepMeSignedIn: { postAuth: "NOT_ALLOWED" } } };
}
