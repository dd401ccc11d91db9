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
  ["name", "text", "name"],
  ["status", "text", "status", "ACTIVE"],
  ["priority", "number", "priority"],
  ["access", "text", "actions.appSignOn.access"],
  ["type", "text", `${method}.type`, "ASSURANCE"],
  ["factor_mode", "text", `${method}.factorMode`, null],
  ["re_authentication_frequency", "text", `${method}.reauthenticateIn`, ""],
  ["inactivity_period", "text", `${method}.inactivityPeriod`, null],
];

const conditions: readonly Source[] = [
  ["network_connection", "text", "conditions.network.connection", "ANYWHERE"],
  ["network_includes", "texts", "conditions.network.include", null],
  ["network_excludes", "texts", "conditions.network.exclude", null],
  ["users_included", "texts", "conditions.people.users.include", null],
  ["users_excluded", "texts", "conditions.people.users.exclude", null],
  ["groups_included", "texts", "conditions.people.groups.include", null],
  ["groups_excluded", "texts", "conditions.people.groups.exclude", null],
  ["user_types_included", "texts", "conditions.userType.include", null],
  ["user_types_excluded", "texts", "conditions.userType.exclude", null],
  ["risk_score", "text", "conditions.riskScore.level", null],
  ["device_is_registered", "boolean", "conditions.device.registered", null],
  ["device_is_managed", "boolean", "conditions.device.managed", null],
  ["device_assurances_included", "texts", "conditions.device.assurance.include", null],
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
  ...[...sources, ...conditions].map(([, , path]) => path),
  ...ofConstraint.map((field) => `${method}.constraints[].knowledge.${field}`),
  ...[...ofConstraint, ...ofPossession].map((field) => `${method}.constraints[].possession.${field}`),
  ...["type", "os.type", "os.expression"].map((field) => `${platform}[].${field}`),
  `${method}.chains`,
  "conditions.elCondition.condition",
  "actions.appSignOn.keepMeSignedIn",
];

/** Where the provider has what Terraform writes; constraints and chains are written as JSON. */
export function appRuleSources(isCatchAll: boolean): readonly Source[] {
  const lists = ["constraints", "chains"].map((name): Source => [name, "texts", `${method}.${name}`]);
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
    return { problem: "the rule includes and excludes zones, and Terraform supports only one of them" };
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
  ["post_auth", "text", "postAuth", null],
  ["post_auth_prompt_frequency", "text", "postAuthPromptFrequency", null],
];

function platformsOf(rule: JsonObject): readonly Block[] {
  const platforms = readList(rule, platform);
  if (platforms.kind !== "value") return [];
  return platforms.value.filter(isJsonObject).map((item) => {
    const { attributes } = readWhole(item, [
      ["type", "text", "type", null],
      ["os_type", "text", "os.type", null],
      ["os_expression", "text", "os.expression", null],
    ]);
    return { name: "platform_include", attributes: toAttributes(attributes) };
  });
}

/** Conditions of a catch-all cannot be changed; an expression may be of several lines, which the evidence does not keep. */
function ignoredOf(rule: JsonObject, isCatchAll: boolean): readonly string[] {
  if (isCatchAll) return ["network_connection"];
  return readText(rule, "conditions.elCondition.condition").kind === "absent" ? [] : ["custom_expression"];
}
