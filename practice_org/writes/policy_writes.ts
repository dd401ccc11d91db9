import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { edit, setField, type Draft } from "../changes/edit.ts";
import { addRule, policyPlace, rulePlace } from "../changes/places.ts";
import { notFound, providerError, type PracticeResponse } from "../http/messages.ts";
import { defaults } from "../contents/new_objects.ts";
import type { PolicyWithRules, Resource } from "../contents/org_contents.ts";
import { answerWith, attempt, invalid, noContent, statusOf, textIn, withDefaults, type Write } from "./write_call.ts";

/** Policies and their rules as clients of the API write them. */

export const putPolicy: Write = ofPolicy((parent, { draft, body }) => {
  const { policy } = parent;
  if (body["type"] !== policy.type) return invalid("type", "The policy type cannot be changed");
  if (textIn(body, "name") === null) return invalid("name", "The field cannot be left blank");
  if (policy["system"] === true && body["priority"] !== policy["priority"]) return providerError("E0000077");
  attempt(() => edit(draft, policyPlace(parent), { ...policy, ...writtenFields(policy, body) }));
  return answerWith(findPolicy(draft, policy.id)?.policy ?? policy);
});

export const policyLifecycle: Write = ofPolicy((parent, { draft, segments: [, verb] }) => {
  const status = statusOf(verb);
  if (status === null || (status === "INACTIVE" && parent.policy["system"] === true)) return providerError("E0000006");
  attempt(() => setField(draft, policyPlace(parent), "status", status));
  return noContent;
});

export const postRule: Write = ofPolicy((parent, { draft, body }) => {
  const name = textIn(body, "name");
  if (name === null) return invalid("name", "The field cannot be left blank");
  if (parent.rules.some((rule) => rule["name"] === name)) return invalid("name", "Rule name already in use");
  const last = parent.rules.filter((rule) => rule["system"] !== true).length;
  // Session rules count from 1, those of apps from 0.
  const lowest = parent.policy.type === "ACCESS_POLICY" ? 0 : 1;
  const asked = typeof body["priority"] === "number" ? body["priority"] : last + lowest;
  const priority = Math.min(Math.max(asked, lowest), last + lowest);
  addRule(draft, parent, { name, priority, ...writtenRule(parent, body) });
  const rules = findPolicy(draft, parent.policy.id)?.rules ?? [];
  return answerWith(rules.find((rule) => rule["name"] === name) ?? {});
});

export const putRule: Write = ofRule((parent, rule, { draft, body }) => {
  const name = textIn(body, "name");
  if (name === null) return invalid("name", "The field cannot be left blank");
  const { conditions, actions } = writtenRule(parent, body);
  const isSystem = rule["system"] === true;
  // The conditions of a built-in rule cannot be changed.
  const own = isSystem ? {} : { name, conditions, priority: body["priority"] ?? rule["priority"] };
  attempt(() => edit(draft, rulePlace(parent, rule), { ...rule, ...own, actions }));
  return answerWith(findRule(draft, parent, rule.id) ?? rule);
});

export const ruleLifecycle: Write = ofRule((parent, rule, { draft, segments: [, , verb] }) => {
  const status = statusOf(verb);
  if (status === null || rule["system"] === true) return providerError("E0000006");
  attempt(() => setField(draft, rulePlace(parent, rule), "status", status));
  return noContent;
});

function writtenFields(old: Resource, body: JsonObject): JsonObject {
  const fields = {
    name: body["name"],
    description: body["description"] ?? null,
    priority: body["priority"] ?? old["priority"],
  };
  if (body["type"] === "ACCESS_POLICY") return fields;
  if (body["type"] === "OKTA_SIGN_ON") return { ...fields, conditions: body["conditions"] ?? null };
  return {
    ...fields,
    conditions: withDefaults(defaults.passwordPolicy.conditions, body["conditions"]),
    settings: withDefaults(defaults.passwordPolicy.settings, body["settings"]),
  };
}

function writtenRule({ policy }: PolicyWithRules, body: JsonObject) {
  const sent = isJsonObject(body["conditions"]) ? body["conditions"] : {};
  if (policy.type === "ACCESS_POLICY") {
    const standard = defaults.accessRule;
    const { platform, ...conditions } = sent;
    const hasPlatform = isJsonObject(platform) && Object.keys(platform).length > 0;
    return {
      conditions: withDefaults(standard.conditions, hasPlatform ? sent : conditions),
      actions: { appSignOn: { ...appSignOnOf(standard.actions), ...withoutNulls(appSignOnOf(body["actions"])) } },
    };
  }
  return {
    conditions: withDefaults(defaults.sessionRule.conditions, sent),
    actions: withDefaults(defaults.sessionRule.actions, body["actions"]),
  };
}

/** Its parts are replaced as a whole: a constraint that was not sent is gone. */
function appSignOnOf(actions: unknown): JsonObject {
  const appSignOn = isJsonObject(actions) ? actions["appSignOn"] : null;
  return isJsonObject(appSignOn) ? appSignOn : {};
}

function withoutNulls(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

function ofPolicy(write: (parent: PolicyWithRules, call: Parameters<Write>[0]) => PracticeResponse): Write {
  return (call) => {
    const [id = ""] = call.segments;
    const parent = findPolicy(call.draft, id);
    return parent === undefined ? notFound(id, "Policy") : write(parent, call);
  };
}

function ofRule(
  write: (parent: PolicyWithRules, rule: Resource, call: Parameters<Write>[0]) => PracticeResponse,
): Write {
  return ofPolicy((parent, call) => {
    const [, id = ""] = call.segments;
    const rule = parent.rules.find((item) => item.id === id);
    return rule === undefined ? notFound(id, "PolicyRule") : write(parent, rule, call);
  });
}

function findPolicy({ contents }: Draft, id: string): PolicyWithRules | undefined {
  return contents.policies.find(({ policy }) => policy.id === id);
}

function findRule(draft: Draft, { policy }: PolicyWithRules, id: string): Resource | undefined {
  return findPolicy(draft, policy.id)?.rules.find((rule) => rule.id === id);
}
