import type { JsonObject } from "../../../shared/json.ts";
import type { FindingResource } from "../../../shared/report.ts";
import { explicitActivityOf, unknownActivity } from "../parsing/activity.ts";
import { readNumber, readObject, readText, readTexts, showValue } from "../parsing/fields.ts";
import { listTexts } from "../parsing/names.ts";
import { restrictionsOf } from "../parsing/rule_conditions.ts";

/** A USER_LIFECYCLE policy (condition and groups) with one of its rules (the action). */
export interface Automation {
  readonly resource: FindingResource;
  /** True: its group is known to be the one of every user. */
  readonly isForEveryone: boolean;
  /** Pieces that are missing or cannot be read. */
  readonly problems: readonly string[];
  /** True: one of the problems is proven, no matter what else cannot be read. */
  readonly isLacking: boolean;
  /** Description of what it does. */
  readonly actual: string;
}

export interface AutomationCriteria {
  readonly maxDays: number;
  /** The ids of the group that every user is in; null where it is unknown. */
  readonly everyone: ReadonlySet<string> | null;
  /** Names by id, as far as they are known. */
  readonly groupNames: ReadonlyMap<string, string>;
}

interface Piece {
  readonly kind: "fine" | "lacking" | "unreadable";
  readonly text: string;
}

/** Reads the automations of one policy; its own part is read once, however many rules it has. Null: it has none. */
export function readAutomation(
  policy: JsonObject,
  { maxDays, everyone, groupNames }: AutomationCriteria,
): (rule: JsonObject | null, resource: FindingResource) => Automation {
  const ofPolicy = [
    activityPiece("the automation", policy),
    inactivityPiece(policy, maxDays),
    groupsPiece(policy, groupNames),
  ];
  const isForAll = isForEveryone(policy, everyone);
  return (rule, resource) => {
    const ofRule = rule === null ? [lacking("no action")] : [activityPiece("its action", rule), targetPiece(rule)];
    const pieces = [...ofPolicy, ...ofRule];
    const textsOf = (isFine: boolean) =>
      pieces.filter(({ kind }) => (kind === "fine") === isFine).map(({ text }) => text);
    return {
      resource,
      isForEveryone: isForAll,
      problems: textsOf(false),
      isLacking: pieces.some(({ kind }) => kind === "lacking"),
      actual: textsOf(true).join(", "),
    };
  };
}

function activityPiece(what: string, object: JsonObject): Piece {
  const activity = explicitActivityOf(object);
  if (activity === "active") return fine(`${what} is active`);
  return activity === "unknown" ? unclear(`${unknownActivity(object)} of ${what}`) : lacking(`${what} is not active`);
}

const hoursPerUnit: ReadonlyMap<string, number> = new Map([
  ["HOUR", 1],
  ["DAY", 24],
  ["WEEK", 168],
]);

function inactivityPiece(policy: JsonObject, maxDays: number): Piece {
  const path = "conditions.people.users.inactivity";
  const number = readNumber(policy, `${path}.number`);
  const unit = readText(policy, `${path}.unit`);
  if (number.kind === "unreadable") return unclear(`the inactivity ${number.found}`);
  if (unit.kind === "unreadable") return unclear(`the inactivity unit ${unit.found}`);
  if (number.kind === "absent") return lacking("no inactivity condition");
  if (unit.kind === "absent") return lacking("no unit of the inactivity condition");
  const hours = hoursPerUnit.get(unit.value.toUpperCase().replace(/S$/, ""));
  if (hours === undefined) return unclear(`the inactivity unit ${showValue(unit.value)}`);
  const text = `inactivity of ${number.value} ${unit.value.toLowerCase()}`;
  return number.value > 0 && number.value * hours <= maxDays * 24 ? fine(text) : lacking(text);
}

function isForEveryone(policy: JsonObject, everyone: AutomationCriteria["everyone"]): boolean {
  const people = readObject(policy, "conditions.people");
  const users = readObject(policy, "conditions.people.users");
  if (everyone === null || people.kind !== "value" || users.kind !== "value") return false;
  const { inactivity: _inactivity, ...limits } = users.value;
  return restrictionsOf({ conditions: { people: { ...people.value, users: limits } } }, everyone).size === 0;
}

function groupsPiece(policy: JsonObject, names: AutomationCriteria["groupNames"]): Piece {
  const groups = readTexts(policy, "conditions.people.groups.include");
  if (groups.kind === "unreadable") return unclear(`the groups ${groups.found}`);
  if (groups.kind === "absent" || groups.value.length === 0) return lacking("no groups");
  const texts = groups.value.map((id) => (names.has(id) ? `"${names.get(id) ?? ""}"` : id));
  return fine(`for the ${texts.length === 1 ? "group" : "groups"} ${listTexts(texts)}`);
}

const disablingStatuses = new Set(["SUSPENDED", "DEACTIVATED", "DEPROVISIONED"]);
// The other user states: known, and not compliant.
const otherStatuses = new Set([
  "ACTIVE",
  "STAGED",
  "PROVISIONED",
  "RECOVERY",
  "LOCKED_OUT",
  "PASSWORD_EXPIRED",
  "UNSUSPENDED",
]);

function targetPiece(rule: JsonObject): Piece {
  const target = readText(rule, "actions.updateUserLifecycle.targetStatus");
  if (target.kind === "unreadable") return unclear(`the target status ${target.found}`);
  if (target.kind === "absent") return lacking("no change of the user's status");
  const word = target.value.toUpperCase();
  if (disablingStatuses.has(word)) return fine(`then ${word}`);
  return otherStatuses.has(word) ? lacking(`then ${word}`) : unclear(`the target status ${showValue(target.value)}`);
}

function fine(text: string): Piece {
  return { kind: "fine", text };
}

function lacking(text: string): Piece {
  return { kind: "lacking", text };
}

function unclear(text: string): Piece {
  return { kind: "unreadable", text };
}
