import type { JsonObject } from "../../../shared/json.ts";
import { readText } from "./fields.ts";

/**
 * The id of the access policy that an app is bound to: the last segment of its link.
 * Null: the app has none. `unreadable`: there is a link, and no id can be read from it.
 */
export function accessPolicyId(app: JsonObject): string | null | typeof unreadablePolicy {
  const href = readText(app, "_links.accessPolicy.href");
  if (href.kind === "absent") return null;
  if (href.kind === "unreadable") return unreadablePolicy;
  const [path = ""] = href.value.split(/[?#]/, 1);
  const segment = path.split("/").findLast((part) => part !== "") ?? "";
  return /^[\w.~-]+$/.test(segment) ? segment : unreadablePolicy;
}

export const unreadablePolicy: unique symbol = Symbol("unreadable");
