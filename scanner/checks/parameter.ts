import { countOf } from "../../shared/outcome_text.ts";
import type { JsonObject } from "../../shared/json.ts";
import type { FindingDraft, Subject } from "./evaluating/finding_drafts.ts";
import { readBoolean, readNumber } from "./parsing/fields.ts";

/** A value in a rule that an organization may set otherwise: a number with the direction in which it is stricter, or a list. */
export type Parameter = NumberParameter | ListParameter;

export interface NumberParameter {
  readonly kind: "number";
  readonly name: string;
  /** `minutes`, `days`, `characters`, … */
  readonly unit: string;
  /** The STIG's. */
  readonly stigValue: number;
  readonly stricter: "less" | "more";
  /** The most that an organization may set; the least is 1. */
  readonly most: number;
}

/** A limit: `least(…)` is met by it and by larger numbers, `most(…)` by numbers from 1 to it, because 0 means no limit. */
export const least = numberParameter("more");
export const most = numberParameter("less");

function numberParameter(stricter: NumberParameter["stricter"]) {
  return (name: string, unit: string, stigValue: number, { max }: { readonly max: number }): NumberParameter => ({
    kind: "number",
    name,
    unit,
    stigValue,
    stricter,
    most: max,
  });
}

/** True where a value is as strict as the limit. `by`: the limit's parameter; a mere number is a least one. */
function meets(value: number, limit: number, by: NumberParameter | number): boolean {
  return typeof by === "object" && by.stricter === "less" ? value >= 1 && value <= limit : value >= limit;
}

export interface ListParameter {
  readonly kind: "list";
  readonly name: string;
  readonly unit: string;
  /** The STIG's; fewer are stricter. */
  readonly stigValue: readonly string[];
  /** True where everything that meets this item meets one of the list, however they are spelled. */
  readonly isWithin: (item: string, list: readonly string[]) => boolean;
}

export type ParameterValue = number | readonly string[];
export type ParameterValues = Readonly<Record<string, ParameterValue>>;

/** The organization's own value, where it sets one. */
export function ownValue({ name }: Parameter, values: ParameterValues = {}): ParameterValue | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/** The organization's value, else the STIG's. */
export function limitOf(parameter: NumberParameter, values: ParameterValues | undefined): number {
  const value = ownValue(parameter, values);
  return typeof value === "number" ? value : parameter.stigValue;
}

export function listOf(parameter: ListParameter, values: ParameterValues | undefined): readonly string[] {
  const value = ownValue(parameter, values);
  return typeof value === "object" ? value : parameter.stigValue;
}

/** How a value differs from the STIG's; null where it does not. */
export function effectOf(parameter: Parameter, value: ParameterValue): "stricter" | "looser" | null {
  if (parameter.kind === "number") {
    if (typeof value !== "number" || value === parameter.stigValue) return null;
    return value < parameter.stigValue === (parameter.stricter === "less") ? "stricter" : "looser";
  }
  if (typeof value === "number") return null;
  const { stigValue, isWithin } = parameter;
  if (!value.every((item) => isWithin(item, stigValue))) return "looser";
  return stigValue.every((item) => isWithin(item, value)) ? null : "stricter";
}

/** DISA's demand on the field of an object that decides about it alone. */
export type Setting = NumberSetting | FlagSetting;

interface NumberSetting {
  /** `actions.signon.session.usePersistentCookie`. */
  readonly path: string;
  /** A number that no organization may set otherwise is the least that the field may be. */
  readonly limit: NumberParameter | number;
  readonly isOn?: never;
  readonly show: (value: number) => string;
  readonly expected: (limit: number) => string;
}

interface FlagSetting {
  readonly path: string;
  readonly isOn: boolean;
  readonly limit?: never;
  readonly show: (value: boolean) => string;
  readonly expected: () => string;
}

/** The expectation by the limit that is in force. */
export function expectationOf(setting: Setting, values: ParameterValues | undefined): string {
  return setting.isOn !== undefined ? setting.expected() : setting.expected(limitIn(setting, values));
}

function limitIn({ limit }: NumberSetting, values: ParameterValues | undefined): number {
  return typeof limit === "object" ? limitOf(limit, values) : limit;
}

/** `1 to 15 minutes`, or `1 minute` where that is the most: 0 means no limit. */
export function upTo(limit: number, noun: string): string {
  return limit === 1 ? countOf(limit, noun) : `1 to ${countOf(limit, noun)}`;
}

/** `15 minutes`, of a setting in which 0 means no limit. */
export function showLimit(value: number, noun: string): string {
  return value === 0 ? "no limit (0)" : countOf(value, noun);
}

/** Reads the value of an object, with the one that it needs: the same if it complies. */
export function compareSetting(setting: Setting, object: JsonObject, values: ParameterValues | undefined) {
  if (setting.isOn !== undefined) return { field: readBoolean(object, setting.path), needed: setting.isOn };
  const field = readNumber(object, setting.path);
  const limit = limitIn(setting, values);
  return { field, needed: field.value !== null && meets(field.value, limit, setting.limit) ? field.value : limit };
}

export function judgeSetting(
  subject: Subject,
  object: JsonObject,
  { setting, values }: { readonly setting: Setting; readonly values: ParameterValues | undefined },
): FindingDraft {
  const { field, needed } = compareSetting(setting, object, values);
  // The field was read as what the setting shows.
  const show = setting.show as (value: number | boolean) => string;
  return subject.judgeField<number | boolean>(field, { isCompliant: (value) => value === needed, show });
}
