import type { JsonObject } from "../../../shared/json.ts";
import type { Check, Explanation, FindingDraft, Setting } from "../check.ts";
import { limitOf, meets, type NumberParameter, type ParameterValues } from "../parameter.ts";
import { readBoolean, readNumber } from "../parsing/fields.ts";
import type { Subject } from "./finding_drafts.ts";

/** DISA's demand on one field. */
export type FieldRule = NumberRule | FlagRule;

interface NumberRule {
  readonly path: string;
  /** A number that no organization may set otherwise is the least that the field may be. */
  readonly limit: NumberParameter | number;
  readonly isOn?: never;
  readonly show: (value: number) => string;
  readonly expected: (limit: number) => string;
}

interface FlagRule {
  readonly path: string;
  readonly isOn: boolean;
  readonly limit?: never;
  readonly show: (value: boolean) => string;
  readonly expected: () => string;
}

/** A check of one setting, with the texts that are its own. */
export interface ExplainedSetting extends Pick<Explanation, "examines" | "why" | "disa"> {
  readonly name: string;
  /** The condition of a PASS, and further sentences about it. */
  readonly passes: string;
  readonly more?: readonly string[];
  /** The last step in the console. */
  readonly console: string;
}

/** The expectation by the limit that is in force. */
export function expectationOf(rule: FieldRule, values: ParameterValues | undefined): string {
  return rule.isOn !== undefined ? rule.expected() : rule.expected(limitIn(rule, values));
}

function limitIn({ limit }: NumberRule, values: ParameterValues | undefined): number {
  return typeof limit === "object" ? limitOf(limit, values) : limit;
}

export function judgeSetting(
  subject: Subject,
  object: JsonObject,
  { rule, values }: { readonly rule: FieldRule; readonly values: ParameterValues | undefined },
): FindingDraft {
  if (rule.isOn !== undefined) {
    const isCompliant = (value: boolean) => value === rule.isOn;
    return subject.judgeField(readBoolean(object, rule.path), { isCompliant, show: rule.show });
  }
  const isCompliant = (value: number) => meets(value, limitIn(rule, values), rule.limit);
  return subject.judgeField(readNumber(object, rule.path), { isCompliant, show: rule.show });
}

/** The setting that a check reads, for whoever changes it, and the limit that an organization may set. */
export function settingOf(rule: FieldRule): Pick<Check, "parameters"> & { readonly setting: Setting } {
  const { path } = rule;
  const compare: Setting["compare"] = (object, values) => {
    const field = rule.isOn !== undefined ? readBoolean(object, path) : readNumber(object, path);
    const found = field.kind === "value" ? field.value : null;
    if (rule.isOn !== undefined) return { found, needed: rule.isOn };
    const limit = limitIn(rule, values);
    return { found, needed: typeof found === "number" && meets(found, limit, rule.limit) ? found : limit };
  };
  return { parameters: typeof rule.limit === "object" ? [rule.limit] : [], setting: { path, compare } };
}
