import { countOf } from "../../../shared/outcome_text.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { limitOf, meets, type NumberSetting, type ParameterValues, type Setting } from "../parameter.ts";
import { readBoolean, readNumber } from "../parsing/fields.ts";
import type { Subject, FindingDraft } from "./finding_drafts.ts";

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
