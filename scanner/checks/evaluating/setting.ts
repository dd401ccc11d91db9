import type { JsonObject } from "../../../shared/json.ts";
import type { Check, FindingDraft, Setting } from "../check.ts";
import { limitOf, meets, type NumberParameter, type ParameterValues } from "../parameter.ts";
import { readBoolean, readNumber } from "../parsing/fields.ts";
import { judgeField, type Subject } from "./finding_drafts.ts";

/** DISA's demand on one field. */
export type FieldRule = NumberRule | FlagRule;

interface NumberRule {
  readonly path: string;
  /** A number that no organization may set otherwise is the least that the field may be. */
  readonly limit: NumberParameter | number;
  readonly isOn?: never;
  readonly show: (value: number) => string;
}

interface FlagRule {
  readonly path: string;
  readonly isOn: boolean;
  readonly limit?: never;
  readonly show: (value: boolean) => string;
}

/** The limit that is in force; 0 for a field that is on or off. */
export function limitIn(rule: FieldRule, values: ParameterValues | undefined): number {
  if (rule.isOn !== undefined) return 0;
  return typeof rule.limit === "object" ? limitOf(rule.limit, values) : rule.limit;
}

export function judgeSetting(subject: Subject, object: JsonObject, limit: number, rule: FieldRule): FindingDraft {
  if (rule.isOn !== undefined) {
    const isCompliant = (value: boolean) => value === rule.isOn;
    return judgeField(subject, readBoolean(object, rule.path), { isCompliant, show: rule.show });
  }
  const isCompliant = (value: number) => meets(value, limit, rule.limit);
  return judgeField(subject, readNumber(object, rule.path), { isCompliant, show: rule.show });
}

/** The setting that a check reads, for whoever changes it, and the limit that an organization may set. */
export function settingOf(rule: FieldRule): Pick<Check, "parameters"> & { readonly setting: Setting } {
  const compare: Setting["compare"] = (object, parameters) => {
    const field = rule.isOn !== undefined ? readBoolean(object, rule.path) : readNumber(object, rule.path);
    const found = field.kind === "value" ? field.value : null;
    const needed = rule.isOn !== undefined ? rule.isOn : limitIn(rule, parameters);
    const isMet = typeof found === "number" && rule.limit !== undefined && meets(found, Number(needed), rule.limit);
    return { found, needed: isMet ? found : needed };
  };
  const parameters = rule.limit !== undefined && typeof rule.limit === "object" ? [rule.limit] : [];
  return { parameters, setting: { path: rule.path, compare } };
}
