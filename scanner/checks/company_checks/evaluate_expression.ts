import type { ManualReason } from "../../../shared/report.ts";
import { isJsonObject } from "../../../shared/json.ts";
import { showValue } from "../parsing/fields.ts";
import type { Expression, Operator } from "./expression.ts";

/** Stands in a value for evidence that was not obtained; reading it gives no verdict. */
export class Unavailable {
  readonly reason: ManualReason;
  readonly detail: string;

  constructor(reason: ManualReason, detail: string) {
    this.reason = reason;
    this.detail = detail;
  }
}

/**
 * True, false, or neither: `not_set` is a field that the org does not assert, which fails a rule no matter what is compared with
 * it; a problem is evidence that is missing or has another shape, on which no verdict can rest.
 */
export type Truth = boolean | "not_set" | Unavailable;

/** The steps that may still be taken: evaluation takes time in proportion to the evidence, and never more than these. */
export interface Steps {
  left: number;
}

export interface Evaluation {
  readonly steps: Steps;
  /** Told of each value that is compared, for the finding's text. */
  readonly onRead?: (source: string, value: unknown) => void;
  /** Told of each object or list that a path leads to, with what it lies in: under the name of a field, or its place in a list. */
  readonly onStep?: (value: object, parent: object, key: string | number) => void;
}

/** Several values, and why there may be more. */
export interface Entries {
  readonly items: readonly unknown[];
  readonly problem: Unavailable | null;
}

export function evaluateCondition(condition: Expression, subject: unknown, evaluation: Evaluation): Truth {
  takeStep(evaluation);
  const evaluate = (inner: Expression) => evaluateCondition(inner, subject, evaluation);
  const { kind } = condition;
  if (kind === "and") return and(evaluate(condition.left), evaluate(condition.right));
  if (kind === "or") return or(evaluate(condition.left), evaluate(condition.right));
  if (kind === "not") {
    const truth = evaluate(condition.of);
    return typeof truth === "boolean" ? !truth : truth;
  }
  if (kind === "compare") return compareSides(condition, subject, evaluation);
  if (kind === "call") return call(condition.name, condition.args, { subject, evaluation });
  return toTruth(readOne(condition, subject, evaluation));
}

function compareSides(
  { operator, left, right }: Extract<Expression, { readonly kind: "compare" }>,
  subject: unknown,
  evaluation: Evaluation,
): Truth {
  const values = [readOne(left, subject, evaluation), readOne(right, subject, evaluation)] as const;
  const asksIfSet = [left, right].some((side) => side.kind === "literal" && side.value === null);
  if (asksIfSet && (operator === "==" || operator === "!=")) return isSame(operator, ...values);
  return compare(operator, ...values);
}

/** A path's values; a single value is one. */
export function evaluateEntries(path: Expression, subject: unknown, evaluation: Evaluation): Entries {
  takeStep(evaluation);
  if (path.kind === "field") {
    const { items, problem } = evaluateEntries(path.of, subject, evaluation);
    const fields = items.map((item) => fieldOf(item, path.name, evaluation));
    const bad = fields.find((field) => field instanceof Unavailable);
    return { items: fields.filter((field) => !(field instanceof Unavailable)), problem: problem ?? bad ?? null };
  }
  if (path.kind === "entries") {
    const lists = evaluateEntries(path.of, subject, evaluation);
    const items: unknown[] = [];
    let { problem } = lists;
    for (const list of lists.items) {
      if (list === null || list === undefined) continue;
      if (!Array.isArray(list)) {
        problem ??= unreadable(`${showValue(list)} where a list is expected`);
        continue;
      }
      for (const [index, item] of (list as readonly unknown[]).entries()) {
        takeStep(evaluation);
        if (typeof item === "object" && item !== null) evaluation.onStep?.(item, list, index);
        const truth = path.where === null ? true : evaluateCondition(path.where, item, { steps: evaluation.steps });
        if (truth === true) items.push(item);
        else if (truth instanceof Unavailable) problem ??= truth;
      }
    }
    return { items, problem };
  }
  return subject instanceof Unavailable ? { items: [], problem: subject } : { items: [subject], problem: null };
}

/** One value: not set is null, and evidence that is missing is `Unavailable`. */
function readOne(expression: Expression, subject: unknown, evaluation: Evaluation): unknown {
  if (expression.kind === "literal") return expression.value;
  const value =
    expression.kind === "call" ? lengthOf(expression, subject, evaluation) : readPath(expression, subject, evaluation);
  evaluation.onRead?.(expression.source, value);
  return value;
}

function readPath(path: Expression, subject: unknown, evaluation: Evaluation): unknown {
  const { items, problem } = evaluateEntries(path, subject, evaluation);
  return problem ?? items[0] ?? null;
}

function lengthOf(call: Extract<Expression, { readonly kind: "call" }>, subject: unknown, evaluation: Evaluation) {
  const [of] = call.args;
  if (of === undefined) return unreadable("no argument");
  if (of.kind === "entries" || hasEntries(of)) {
    const { items, problem } = evaluateEntries(of, subject, evaluation);
    return problem ?? items.filter((item) => item !== null && item !== undefined).length;
  }
  const value = readPath(of, subject, evaluation);
  if (value instanceof Unavailable || value === null) return value;
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  return unreadable(`${showValue(value)} where a list or a text is expected`);
}

function call(
  name: string,
  [of, wanted]: readonly Expression[],
  { subject, evaluation }: { readonly subject: unknown; readonly evaluation: Evaluation },
): Truth {
  if (of === undefined || wanted === undefined) return unreadable("too few arguments");
  const needle = readOne(wanted, subject, evaluation);
  if (needle instanceof Unavailable) return needle;
  if (name === "contains" && hasEntries(of)) {
    const { items, problem } = evaluateEntries(of, subject, evaluation);
    evaluation.onRead?.(of.source, items);
    return items.some((item) => item === needle) || (problem ?? false);
  }
  const value = readOne(of, subject, evaluation);
  if (value instanceof Unavailable) return value;
  if (value === null || needle === null) return "not_set";
  if (name === "contains" && Array.isArray(value)) {
    for (const item of value as readonly unknown[]) {
      takeStep(evaluation);
      if (item === needle) return true;
    }
    return false;
  }
  if (typeof value !== "string" || typeof needle !== "string")
    return unreadable(`${showValue(value)} where a text is expected`);
  if (name === "starts_with") return value.startsWith(needle);
  if (name === "ends_with") return value.endsWith(needle);
  return value.includes(needle);
}

function hasEntries(path: Expression): boolean {
  return path.kind === "entries" || (path.kind === "field" && hasEntries(path.of));
}

function fieldOf(item: unknown, name: string, evaluation: Evaluation): unknown {
  takeStep(evaluation);
  if (item instanceof Unavailable) return item;
  if (item === null || item === undefined) return null;
  if (!isJsonObject(item)) return unreadable(`${showValue(item)} where an object is expected`);
  const value = (Object.hasOwn(item, name) ? item[name] : null) ?? null;
  if (typeof value === "object" && value !== null) evaluation.onStep?.(value, item, name);
  return value;
}

function compare(operator: Operator, left: unknown, right: unknown): Truth {
  if (left instanceof Unavailable) return left;
  if (right instanceof Unavailable) return right;
  if (left === null || right === null) return "not_set";
  if (operator === "==" || operator === "!=") {
    if (typeof left !== typeof right || typeof left === "object")
      return unreadable(`${showValue(left)} where a ${typeof right} is expected`);
    return (left === right) === (operator === "==");
  }
  if (typeof left !== "number" || typeof right !== "number")
    return unreadable(`${showValue(typeof left === "number" ? right : left)} where a number is expected`);
  if (operator === "<") return left < right;
  if (operator === "<=") return left <= right;
  return operator === ">" ? left > right : left >= right;
}

/** `== null` asks whether a field is set; any other comparison with one that is not is neither true nor false. */
function isSame(operator: "==" | "!=", left: unknown, right: unknown): Truth {
  if (left instanceof Unavailable) return left;
  if (right instanceof Unavailable) return right;
  return (left === right) === (operator === "==");
}

function toTruth(value: unknown): Truth {
  if (value === null) return "not_set";
  if (value instanceof Unavailable || typeof value === "boolean") return value;
  return unreadable(`${showValue(value)} where true or false is expected`);
}

/** What is false or not set decides before a problem does. */
function and(left: Truth, right: Truth): Truth {
  for (const decisive of [false, "not_set"] as const) if (left === decisive || right === decisive) return decisive;
  return left === true ? right : left;
}

/** A problem leaves open what a field that is not set would decide. */
function or(left: Truth, right: Truth): Truth {
  if (left === true || right === true) return true;
  if (left instanceof Unavailable) return left;
  if (right instanceof Unavailable) return right;
  return left === "not_set" ? left : right;
}

function unreadable(found: string): Unavailable {
  return new Unavailable("unreadable", `what this version cannot read, ${found}`);
}

function takeStep({ steps }: Evaluation): void {
  steps.left -= 1;
  if (steps.left < 0) throw new RangeError("The evidence is too large for this rule");
}
