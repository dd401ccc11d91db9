import type { JsonObject } from "../../../shared/json.ts";
import type { Setting } from "../check.ts";
import { limitOf, type NumberParameter } from "../parameter.ts";
import type { Field } from "../parsing/fields.ts";

interface SettingRule<Value> {
  readonly path: string;
  readonly read: (object: JsonObject, path: string) => Field<Value>;
  readonly isCompliant: (value: Value, limit: number) => boolean;
  /** The STIG's value, or the parameter that holds it. */
  readonly required: NumberParameter | 1 | boolean;
}

/** The setting that a check reads, for whoever changes it. */
export function settingOf<Value extends number | boolean>(rule: SettingRule<Value>): Setting {
  const { path, read, isCompliant, required } = rule;
  return {
    path,
    compare(object, parameters) {
      const field = read(object, path);
      const found = field.kind === "value" ? field.value : null;
      const limit = typeof required === "object" ? limitOf(required, parameters) : required;
      return { found, needed: found !== null && isCompliant(found, Number(limit)) ? found : limit };
    },
  };
}
