import { ofPolicy } from "../api/endpoints.ts";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { addRule, policyPlace, rulePlace } from "../changes/places.ts";
import { invalid, json, notFound, providerError, type PracticeResponse } from "../http/messages.ts";
import { defaults } from "../contents/new_objects.ts";
import type { PolicyWithRules, Resource } from "../contents/org_contents.ts";
import { blankName, put, putStatus, textIn, withDefaults, type Write, type WriteCall } from "./write_call.ts";

/** Policies and their rules as clients of the API write them. */

export const putPolicy: Write = ofPolicy((parent, { draft, body }) => {
  const { policy } = parent;
  if (body["type"] !== "PASSWORD" || policy.type !== "PASSWORD") return invalid("type", "Expected a password policy");
  if (textIn(body, "name") === null) return blankName();
  if (policy["system"] === true && body["priority"] !== policy["priority"]) return providerError("E0000077");
  return put(draft, policyPlace(parent), { ...policy, ...writtenFields(policy, body) });
});

export const policyLifecycle: Write = ofPolicy((parent, { draft, segments: [, verb] }) => {
  if (verb === "deactivate" && parent.policy["system"] === true) return providerError("E0000006");
  return withoutBody(putStatus(draft, policyPlace(parent), verb));
});

export const postRule: Write = ofPolicy((parent, { draft, body }) => {
  const name = textIn(body, "name");
  if (name === null) return blankName();
  if (parent.rules.some((rule) => rule["name"] === name)) return invalid("name", "Rule name already in use");
  const last = parent.rules.filter((rule) => rule["system"] !== true).length;
  // Session rules count from 1, those of apps from 0.
  const lowest = parent.policy.type === "ACCESS_POLICY" ? 0 : 1;
  const asked = typeof body["priority"] === "number" ? body["priority"] : last + lowest;
  const priority = Math.min(Math.max(asked, lowest), last + lowest);
  return json(200, addRule(draft, parent, { name, priority, ...writtenRule(parent, body) }));
});

export const putRule: Write = ofRule((parent, rule, { draft, body }) => {
  const name = textIn(body, "name");
  if (name === null) return blankName();
  const { conditions, actions } = writtenRule(parent, body);
  // The conditions of a built-in rule cannot be changed.
  const own = rule["system"] === true ? {} : { name, conditions, priority: body["priority"] ?? rule["priority"] };
  return put(draft, rulePlace(parent, rule), { ...rule, ...own, actions });
});

export const ruleLifecycle: Write = ofRule((parent, rule, { draft, segments: [, , verb] }) =>
  rule["system"] === true ? providerError("E0000006") : withoutBody(putStatus(draft, rulePlace(parent, rule), verb)),
);

/** The provider answers a step of the lifecycle of policies and rules without a body. */
function withoutBody(response: PracticeResponse): PracticeResponse {
  return response.status === 200 ? { status: 204, headers: [], body: "" } : response;
}

/** A plan writes password policies only. */
function writtenFields(old: Resource, body: JsonObject): JsonObject {
  return {
    name: body["name"],
    description: body["description"] ?? null,
    priority: body["priority"] ?? old["priority"],
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

function ofRule(write: (parent: PolicyWithRules, rule: Resource, call: WriteCall) => PracticeResponse): Write {
  return ofPolicy((parent, call) => {
    const [, id = ""] = call.segments;
    const rule = parent.rules.find((item) => item.id === id);
    return rule === undefined ? notFound(id, "PolicyRule") : write(parent, rule, call);
  });
}
