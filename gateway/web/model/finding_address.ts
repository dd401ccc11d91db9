import type { Severity } from "../../../shared/report.ts";
import { ruleStates, type RuleState } from "../../../shared/rule_result.ts";
import { findCheck, findRule } from "./check_catalog.ts";
import { noFilter, type FindingOrder, type FindingsFilter } from "./findings_filter.ts";

/** What an address says about a list of findings: `…?rule=&status=&cat=&control=&q=&order=&finding=`. */
export interface FindingAddress {
  readonly filter: FindingsFilter;
  /** The fingerprint of the finding that is open. */
  readonly finding: string | null;
}

const cats: Readonly<Record<string, Severity>> = { "1": "high", "2": "medium", "3": "low" };
const orders: readonly FindingOrder[] = ["worst", "newest", "resource"];
const maxTextLength = 200;

/** What cannot be understood is left out. */
export function parseFindingAddress(hash: string): FindingAddress {
  const query = new URLSearchParams(hash.includes("?") ? hash.slice(hash.indexOf("?") + 1) : "");
  const text = (name: string) => (query.get(name) ?? "").slice(0, maxTextLength);
  const list = (name: string) => text(name).toLowerCase().split(",");
  const states = list("status").map((status) => (status === "n/a" ? "not_applicable" : status));
  const rule = text("rule");
  return {
    filter: {
      states: new Set(ruleStates.filter((state: RuleState) => states.includes(state))),
      severities: new Set(list("cat").flatMap((cat) => cats[cat] ?? [])),
      check: rule === "" ? null : (findRule(rule) ?? rule),
      control: text("control") === "" ? null : text("control"),
      text: text("q"),
      order: orders.find((order) => order === query.get("order")) ?? noFilter.order,
    },
    finding: query.get("finding"),
  };
}

/** The address with another filter; what else is in its query is dropped. */
export function toFindingAddress(hash: string, { filter, finding }: FindingAddress): string {
  const [place = ""] = hash.split("?");
  const { check, states, severities, control, text, order } = filter;
  const query = new URLSearchParams({
    ...(check === null ? {} : { rule: findCheck(check)?.vulnId ?? check }),
    ...(states.size === 0 ? {} : { status: [...states].join() }),
    ...(severities.size === 0 ? {} : { cat: catsOf(severities) }),
    ...(control === null ? {} : { control }),
    ...(text === "" ? {} : { q: text }),
    ...(order === noFilter.order ? {} : { order }),
    ...(finding === null ? {} : { finding }),
  }).toString();
  return query === "" ? place : `${place}?${query}`;
}

function catsOf(severities: ReadonlySet<Severity>): string {
  return Object.entries(cats)
    .flatMap(([cat, severity]) => (severities.has(severity) ? [cat] : []))
    .join();
}
