import { toCheckName, vulnIdOf } from "../../../shared/rule_names.ts";
import type { RulesFilter } from "./rules.ts";

/** View that an address of the page names. */
export type Route =
  | { readonly page: "overview" }
  | { readonly page: "organization" | "scan" | "monitor"; readonly id: string }
  | { readonly page: "decisions" }
  /** Empty: the first section. */
  | { readonly page: "settings"; readonly section: string }
  | { readonly page: "unknown" };

const onePattern = /^#\/(organization|scan|monitor)s\/([0-9a-zA-Z-]{1,64})$/;

/** The query says what is shown there, see `parseRulesView`. */
export function parseRoute(address: string): Route {
  const [hash = ""] = address.split("?");
  if (/^#?\/?$/.test(hash)) return { page: "overview" };
  if (hash === "#/decisions") return { page: "decisions" };
  const [, settings] = /^#\/settings(?:\/([a-z-]{1,64}))?$/.exec(hash) ?? [];
  if (settings !== undefined || hash === "#/settings") return { page: "settings", section: settings ?? "" };
  const [, kind, one] = onePattern.exec(hash) ?? [];
  if (one === undefined) return { page: "unknown" };
  return { page: kind as "organization" | "scan" | "monitor", id: one.toLowerCase() };
}

/** Filters of an organization's view: `…?status=&q=&rule=&as-of=`. */
export interface RulesView extends RulesFilter {
  /** A scan's id, or a day; null: now. */
  readonly asOf: string | null;
}

const states = ["fail", "manual", "pass", "not_applicable", "none", "waived", "needs_you"] as const;
const maxTextLength = 200;

/** Leaves out what cannot be understood. */
export function parseRulesView(hash: string): RulesView {
  const query = new URLSearchParams(hash.includes("?") ? hash.slice(hash.indexOf("?") + 1) : "");
  const rule = query.get("rule");
  return {
    state:
      states.find((state) => state === query.get("status")?.toLowerCase().replace("n/a", "not_applicable")) ?? null,
    text: (query.get("q") ?? "").slice(0, maxTextLength),
    rule: rule === null ? null : toCheckName(rule).replace(/^V-/, "v_"),
    asOf: query.get("as-of")?.toLowerCase() ?? null,
  };
}

/** The address with another view; what else is in its query is dropped. */
export function toAddress(hash: string, { state, text, rule, asOf }: RulesView): string {
  const place = hash.split("?")[0] || "#/";
  const query = new URLSearchParams({
    ...(state === null ? {} : { status: state }),
    ...(text === "" ? {} : { q: text }),
    ...(rule === null ? {} : { rule: vulnIdOf(rule) }),
    ...(asOf === null ? {} : { "as-of": asOf }),
  }).toString();
  return query === "" ? place : `${place}?${query}`;
}

/** The address of a rule of the organization that the address names. */
export function ruleAddress(hash: string, check: string): string {
  return toAddress(hash, { state: null, text: "", rule: check, asOf: null });
}
