import type { JsonObject } from "../../../shared/json.ts";
import { readList } from "./fields.ts";

const lists = ["users.include", "users.exclude", "groups.include", "groups.exclude"];

/** Whether a rule names users or groups, so that it leaves others to later rules; also where that cannot be read. */
export function isForSomeOnly(rule: JsonObject): boolean {
  return lists.some((list) => {
    const named = readList(rule, `conditions.people.${list}`);
    return named.kind === "unreadable" || (named.kind === "value" && named.value.length > 0);
  });
}
