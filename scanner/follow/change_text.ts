import { paintStatus, printable } from "../../command_line/terminal.ts";
import { actorText } from "../../shared/actor.ts";
import { countOf, outcomeText } from "../../shared/outcome_text.ts";
import { countStates, stateOf } from "../../shared/rule_result.ts";
import { levelOf } from "../reports/report_format.ts";
import { stateLabels } from "../reports/result_text.ts";
import { shorten, toPrintableJson } from "../../shared/text.ts";
import { vulnIdOf } from "../../shared/rule_names.ts";
import type { StigRule } from "../catalog/catalog.ts";
import { isUnreadable } from "../../shared/history/observation.ts";
import { alsoText, decisionText, groupChanges, objectsOf, orgPolicyText } from "../../shared/change_groups.ts";
import type { WatchLine } from "../../shared/schemas/history.ts";
import type { ChangeLine, Verdict } from "./changes.ts";

interface TextOptions {
  readonly format: ChangeFormat;
  readonly color: boolean;
  /** The rule of a check; undefined for one that the scan does not know. */
  readonly ruleOf: (check: string) => Pick<StigRule, "vuln_id" | "category" | "title"> | undefined;
}

/** The first results of an org would fill screens: more of them than this are one line of a table. */
const maxStartLines = 20;
const maxTitle = 50;

/** Lines without their ends. A table has the changes; what one act moved is one entry of it. */
export function changeTexts(lines: readonly (ChangeLine | WatchLine)[], options: TextOptions): readonly string[] {
  if (options.format === "ndjson") return lines.map((line) => toPrintableJson(line));
  const changes = lines
    .filter((line) => line.schema === "scanstream.change/1")
    .filter(({ cause, to }) => cause !== "start" || to !== null);
  const starts = changes.filter(({ cause }) => cause === "start");
  const isLong = starts.length > maxStartLines;
  const others = isLong ? changes.filter(({ cause }) => cause !== "start") : changes;
  const groups = groupChanges(others.filter((line) => !standsForObjects(line, others)));
  return [...(isLong ? [startText(starts)] : []), ...groups.flatMap((group) => groupTexts(group, options))];
}

/** True for the finding of a list that could not be read, or can be again, where those of its objects say the same. */
function standsForObjects({ resource, check, from, to }: ChangeLine, lines: readonly ChangeLine[]): boolean {
  if (resource.type !== "org" || (from !== null && to !== null)) return false;
  const reason = (from ?? to)?.reason ?? null;
  if (reason === null || !isUnreadable({ reason })) return false;
  const isSame = (other: ChangeLine) => (from === null ? other.to : other.from)?.reason === reason;
  return lines.some((other) => other.check === check && other.resource.type !== "org" && isSame(other));
}

function groupTexts(group: readonly ChangeLine[], options: TextOptions): readonly string[] {
  const [first] = group;
  if (first === undefined || group.length === 1)
    return group.map((line) => [changeText(line, options), reason(line)].filter((text) => text !== "").join("  "));
  const types = [...new Set(first.explained_by.map(({ event_type: type }) => type))].join(", ");
  return [
    `${timeOf(first)}  ${printable(groupText(group))} (${printable(types)})`,
    ...group.map((line) => `  ${changeText(line, options)}`),
  ];
}

/** `1 change to zone "Offices" by Alex Admin (alex@acme.com) changed 7 results`. */
function groupText(group: readonly ChangeLine[]): string {
  const events = group[0]?.explained_by ?? [];
  const [object, ...others] = objectsOf(events);
  const more = others.length === 0 ? "" : ` and ${countOf(others.length, "other object")}`;
  const about = object === undefined ? "" : ` to ${object}${more}`;
  const who = [...new Set(events.map(({ actor }) => actorText(actor) ?? unknownActor))].join(", ");
  return `${countOf(events.length, "change")}${about} by ${who} changed ${countOf(group.length, "result")}`;
}

const unknownActor = "an unknown actor";

function startText(starts: readonly ChangeLine[]): string {
  const counts = countStates(starts.flatMap(({ to }) => (to === null ? [] : [to])));
  const [time = ""] = starts.map(timeOf);
  return `${time}  First results: ${countOf(starts.length, "finding")}, ${outcomeText((state) => counts[state])}. "scanstream scan" shows them`;
}

export type ChangeFormat = "table" | "ndjson";

/** One line of a table. */
function changeText(line: ChangeLine, options: TextOptions): string {
  const { to, check, resource, cause } = line;
  const advice = line.advisory ? " (does not change the result of the rule)" : "";
  const after = `${verdict(to, line.to_waived, options)}${advice}`;
  const moved = cause === "start" ? after : `${verdict(line.from, line.from_waived, options)} → ${after}`;
  const rule = options.ruleOf(check);
  const name =
    rule === undefined ? vulnIdOf(check) : `${rule.vuln_id} ${levelOf(rule)} ${shorten(rule.title, maxTitle)}`;
  return [timeOf(line), moved, name, printable(resource.name)].filter((part) => part !== "").join("  ");
}

function timeOf({ seen_at: seenAt }: ChangeLine): string {
  return `${seenAt.slice(0, 10)} ${seenAt.slice(11, 19)}Z`;
}

function verdict(value: Verdict | null, isWaived: boolean, options: { readonly color: boolean }): string {
  if (value === null) return "(none)";
  const label = stateLabels[stateOf(value)];
  const reason = value.reason === null || label === "N/A" ? "" : ` ${value.reason}`;
  return paintStatus(`${label}${reason}${isWaived ? " waived" : ""}`, label, options);
}

/** Each author of the change with the event types, and the other events of the interval. */
function reason(line: ChangeLine): string {
  const { cause, explained_by: events } = line;
  if (cause === "start") return "";
  if (cause === "decision") return printable(decisionText(line));
  if (cause === "org_policy") return orgPolicyText;
  const byAuthor = Map.groupBy(events, ({ actor }) => actorText(actor) ?? unknownActor);
  const authors = [...byAuthor].map(([author, own]) => {
    const types = new Set(own.map(({ event_type: type }) => type));
    return `by ${printable(author)} (${printable([...types].join(", "))})`;
  });
  const who = authors.length === 0 ? "not explained by the log" : authors.join(", ");
  return [who, printable(alsoText(line))].filter((text) => text !== "").join("; ");
}
