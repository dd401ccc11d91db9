import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { canonicalText } from "./conditions.ts";

/**
 * Whether a rule with the actions `after` demands at least what one with the actions `before` demands. What is not known to
 * be stricter has to be the same, so that the answer is false where nobody can tell.
 */
export function isAtLeastAsStrict(after: JsonObject, before: JsonObject): boolean {
  return everyField(after, before, (name, one, other) => {
    if (name === "signon") return everyField(one, other, isSessionFieldStrict);
    if (name === "appSignOn") return everyField(one, other, isAppFieldStrict);
    return isSame(one, other);
  });
}

type FieldComparison = (name: string, after: unknown, before: unknown) => boolean;

/** By all fields of both; an object that is absent has none. */
function everyField(one: unknown, other: unknown, compare: FieldComparison): boolean {
  const [after, before] = [one ?? {}, other ?? {}];
  if (!isJsonObject(after) || !isJsonObject(before)) return isSame(after, before);
  return [...new Set([...Object.keys(after), ...Object.keys(before)])].every((name) =>
    compare(name, after[name], before[name]),
  );
}

function isSame(one: unknown, other: unknown): boolean {
  return isNothing(one) ? isNothing(other) : canonicalText(one) === canonicalText(other);
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

function isSessionFieldStrict(name: string, after: unknown, before: unknown): boolean {
  // Which rules let in is compared by their outcome.
  if (name === "access") return true;
  if (name === "requireFactor") return after === true || before !== true;
  if (name === "rememberDeviceByDefault") return before === true || after !== true;
  if (name === "factorPromptMode" || name === "factorLifetime") return isNothing(before) || isSame(after, before);
  if (name !== "session") return isSame(after, before);
  return everyField(after, before, (field, one, other) => {
    if (field === "usePersistentCookie") return other === true || one !== true;
    if (field === "maxSessionIdleMinutes" || field === "maxSessionLifetimeMinutes")
      return minutes(one) <= minutes(other);
    return isSame(one, other);
  });
}

/** Zero and none mean without end. */
function minutes(value: unknown): number {
  return typeof value === "number" && value > 0 ? value : Number.POSITIVE_INFINITY;
}

function isAppFieldStrict(name: string, after: unknown, before: unknown): boolean {
  if (name === "access") return true;
  if (name === "keepMeSignedIn" && isJsonObject(after) && after["postAuth"] === "NOT_ALLOWED") return true;
  if (name !== "verificationMethod") return isSame(after, before);
  return everyField(after, before, (field, one, other) => {
    if (field === "type") return isSame(one ?? "ASSURANCE", other ?? "ASSURANCE");
    if (field === "factorMode") return one === "2FA" || isSame(one, other);
    if (field === "constraints") return areConstraintsStrict(one, other);
    return isSame(one, other);
  });
}

/** Each alternative of the one has to meet an alternative of the other. */
function areConstraintsStrict(after: unknown, before: unknown): boolean {
  if (isNothing(before)) return true;
  if (!Array.isArray(after) || !Array.isArray(before) || after.length === 0) return isSame(after, before);
  return after.every((one) => before.some((other) => isConstraintStrict(one, other)));
}

function isConstraintStrict(after: unknown, before: unknown): boolean {
  if (!isJsonObject(after) || !isJsonObject(before)) return isSame(after, before);
  return Object.entries(before).every(([factor, wanted]) => {
    const found = after[factor];
    if (!isJsonObject(found) || !isJsonObject(wanted)) return isSame(found, wanted);
    return everyField(found, wanted, (field, one, other) => {
      // A factor is required unless the rule says otherwise.
      if (field === "required") return one !== false || other === false;
      if (properties.has(field)) return other !== "REQUIRED" || one === "REQUIRED";
      return isNothing(other) || isSame(one, other);
    });
  });
}

const properties: ReadonlySet<string> = new Set([
  "deviceBound",
  "hardwareProtection",
  "phishingResistant",
  "userPresence",
  "userVerification",
]);
