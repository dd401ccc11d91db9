import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { readList, readObject, readText } from "../../checks/parsing/fields.ts";
import { idOf } from "../plan_draft.ts";
import { toAttributes, type Block, type Value, type JsonValue } from "../terraform.ts";
import { readWhole, unknownFields, type Source } from "../whole_objects.ts";

export type AppRule =
  | { readonly problem: string }
  | {
      readonly problem: null;
      readonly attributes: Readonly<Record<string, Value>>;
      readonly blocks: readonly Block[];
      /** Attributes that Terraform leaves as they are. */
      readonly ignored: readonly string[];
    };

const method = "actions.appSignOn.verificationMethod";

const sources: readonly Source[] = [
  { attribute: "name", path: "name", read: "text" },
  { attribute: "status", path: "status", read: "text", ifAbsent: "ACTIVE" },
  { attribute: "priority", path: "priority", read: "number" },
  { attribute: "access", path: "actions.appSignOn.access", read: "text" },
  { attribute: "type", path: `${method}.type`, read: "text", ifAbsent: "ASSURANCE" },
  { attribute: "factor_mode", path: `${method}.factorMode`, read: "text", ifAbsent: null },
  { attribute: "re_authentication_frequency", path: `${method}.reauthenticateIn`, read: "text", ifAbsent: "" },
  { attribute: "inactivity_period", path: `${method}.inactivityPeriod`, read: "text", ifAbsent: null },
];

const conditions: readonly Source[] = [
  { attribute: "network_connection", path: "conditions.network.connection", read: "text", ifAbsent: "ANYWHERE" },
  { attribute: "network_includes", path: "conditions.network.include", read: "texts", ifAbsent: null },
  { attribute: "network_excludes", path: "conditions.network.exclude", read: "texts", ifAbsent: null },
  { attribute: "users_included", path: "conditions.people.users.include", read: "texts", ifAbsent: null },
  { attribute: "users_excluded", path: "conditions.people.users.exclude", read: "texts", ifAbsent: null },
  { attribute: "groups_included", path: "conditions.people.groups.include", read: "texts", ifAbsent: null },
  { attribute: "groups_excluded", path: "conditions.people.groups.exclude", read: "texts", ifAbsent: null },
  { attribute: "user_types_included", path: "conditions.userType.include", read: "texts", ifAbsent: null },
  { attribute: "user_types_excluded", path: "conditions.userType.exclude", read: "texts", ifAbsent: null },
  { attribute: "risk_score", path: "conditions.riskScore.level", read: "text", ifAbsent: null },
  { attribute: "device_is_registered", path: "conditions.device.registered", read: "boolean", ifAbsent: null },
  { attribute: "device_is_managed", path: "conditions.device.managed", read: "boolean", ifAbsent: null },
  {
    attribute: "device_assurances_included",
    path: "conditions.device.assurance.include",
    read: "texts",
    ifAbsent: null,
  },
];

const platform = "conditions.platform.include";
const factorFields = ["authenticationMethods", "excludedAuthenticationMethods"].flatMap((list) =>
  ["key", "id", "method"].map((field) => `${list}[].${field}`),
);
const ofConstraint = [...factorFields, "methods", "reauthenticateIn", "types", "required"];
const ofPossession = [
  "deviceBound",
  "hardwareProtection",
  "phishingResistant",
  "userPresence",
  "userVerification",
  "userVerificationMethods",
];

/** What Terraform carries. What it leaves as it is counts too. */
const known: readonly string[] = [
  ...[...sources, ...conditions].map(({ path }) => path),
  ...ofConstraint.map((field) => `${method}.constraints[].knowledge.${field}`),
  ...[...ofConstraint, ...ofPossession].map((field) => `${method}.constraints[].possession.${field}`),
  ...["type", "os.type", "os.expression"].map((field) => `${platform}[].${field}`),
  `${method}.chains`,
  "conditions.elCondition.condition",
  "actions.appSignOn.keepMeSignedIn",
];

/** Where the provider has what Terraform writes; constraints and chains are written as JSON. */
export function appRuleSources(isCatchAll: boolean): readonly Source[] {
  const lists: readonly Source[] = ["constraints", "chains"].map((attribute) => ({
    attribute,
    path: `${method}.${attribute}`,
    read: "texts",
  }));
  return [...sources, ...lists, ...(isCatchAll ? [] : conditions)];
}

/** A rule of an authentication policy as Terraform writes it: whole, or why it cannot be. */
export function readAppRule(rule: JsonObject, isCatchAll: boolean): AppRule {
  const { attributes, missing } = readWhole(rule, isCatchAll ? sources : [...sources, ...conditions]);
  const unknown = unknownFields(rule, ["conditions", "actions"], known);
  if (idOf(rule) === null) return { problem: "a rule of its policy has no usable id" };
  if (missing.length > 0) return { problem: `the evidence does not have ${missing.join(", ")}` };
  if (unknown.length > 0) return { problem: `Terraform would reset ${unknown.join(", ")}` };
  const constraints = constraintsOf(rule) ?? [];
  const chains = readList(rule, `${method}.chains`);
  if (isListed(attributes["network_includes"]) && isListed(attributes["network_excludes"])) {
    return { problem: "the rule includes and excludes zones, and Terraform takes one of the two" };
  }
  return {
    problem: null,
    attributes: {
      ...Object.fromEntries(Object.entries(attributes).filter(([name, value]) => isWanted(name, value, attributes))),
      ...(constraints.length === 0 ? {} : { constraints: constraints.map(asJson) }),
      ...(chains.kind === "value" && chains.value.length > 0 ? { chains: chains.value.map(asJson) } : {}),
    },
    blocks: platformsOf(rule),
    ignored: ignoredOf(rule, isCatchAll),
  };
}

/** The alternatives of which one has to be met, with what the API means by a field that is absent. Null: the rule has chains instead. */
export function constraintsOf(rule: JsonObject): readonly JsonObject[] | null {
  const kind = readText(rule, `${method}.type`);
  if (kind.kind === "value" && kind.value !== "ASSURANCE") return null;
  const list = readList(rule, `${method}.constraints`);
  const found = list.kind === "value" ? list.value.filter(isJsonObject) : [];
  return found.map((constraint) =>
    Object.fromEntries(
      Object.entries(constraint).map(([name, factor]) => [
        name,
        isJsonObject(factor) && factor["required"] === undefined ? { required: true, ...factor } : factor,
      ]),
    ),
  );
}

function asJson(value: unknown): Value {
  // It came from JSON.
  return { kind: "json", value: value as JsonValue };
}

function isListed(value: Value | undefined): boolean {
  return Array.isArray(value) && value.length > 0;
}

/** Empty lists are as good as none, and a device is either registered or not spoken of. */
function isWanted(
  name: string,
  value: Value,
  { device_is_registered: registered }: Readonly<Record<string, Value>>,
): boolean {
  if (name.startsWith("device_is_")) return registered === true;
  return !Array.isArray(value) || value.length > 0;
}

/** The option to stay signed in, which Terraform leaves as it is in a rule that it imports; a new rule has to say it. */
export function keepSignedInBlock(rule: JsonObject): Block | null {
  const found = readObject(rule, "actions.appSignOn.keepMeSignedIn");
  if (found.kind !== "value") return null;
  const { attributes } = readWhole(found.value, keepSignedInSources);
  return { name: "keep_me_signed_in", attributes: toAttributes(attributes) };
}

/** Where the provider has the option, below `keepMeSignedIn`. */
export const keepSignedInSources: readonly Source[] = [
  { attribute: "post_auth", path: "postAuth", read: "text", ifAbsent: null },
  { attribute: "post_auth_prompt_frequency", path: "postAuthPromptFrequency", read: "text", ifAbsent: null },
];

function platformsOf(rule: JsonObject): readonly Block[] {
  const platforms = readList(rule, platform);
  if (platforms.kind !== "value") return [];
  return platforms.value.filter(isJsonObject).map((item) => {
    const { attributes } = readWhole(item, [
      { attribute: "type", path: "type", read: "text", ifAbsent: null },
      { attribute: "os_type", path: "os.type", read: "text", ifAbsent: null },
      { attribute: "os_expression", path: "os.expression", read: "text", ifAbsent: null },
    ]);
    return { name: "platform_include", attributes: toAttributes(attributes) };
  });
}

/** Conditions of a catch-all cannot be changed; an expression may be of several lines, which the evidence does not keep. */
function ignoredOf(rule: JsonObject, isCatchAll: boolean): readonly string[] {
  if (isCatchAll) return ["network_connection"];
  return readText(rule, "conditions.elCondition.condition").kind === "absent" ? [] : ["custom_expression"];
}
