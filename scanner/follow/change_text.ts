import { paintStatus, printable } from "../../command_line/terminal.ts";
import { stateOf, type Severity } from "../../shared/report.ts";
import { stateLabels } from "../reports/disposition.ts";
import { toPrintableJson } from "../../shared/text.ts";
import type { ChangeLine, Verdict } from "./changes.ts";

export type ChangeFormat = "table" | "ndjson";

/** One line, without its end. */
export function changeText(
  line: ChangeLine,
  options: {
    readonly format: ChangeFormat;
    readonly color: boolean;
    /** How bad it is that the check fails. */
    readonly severity: Severity | null;
  },
): string {
  if (options.format === "ndjson") return toPrintableJson(line);
  const { seen_at: seenAt, from, to, check, resource, cause } = line;
  const moved = cause === "start" ? verdict(to, options) : `${verdict(from, options)} → ${verdict(to, options)}`;
  const severity = to?.status === "FAIL" ? options.severity : null;
  const parts = [seenAt.slice(11, 19), moved, check, printable(resource.name), reason(line), severity];
  return parts.filter((part) => part !== null && part !== "").join("  ");
}

function verdict(value: Verdict | null, options: { readonly color: boolean }): string {
  if (value === null) return "(none)";
  const label = stateLabels[stateOf(value)];
  return paintStatus(value.reason === null || label === "N/A" ? label : `${label} ${value.reason}`, label, options);
}

/** Who made the change, and by what; each only once. */
function reason({ cause, explained_by: events }: ChangeLine): string {
  if (cause === "start") return "";
  if (events.length === 0) return "not explained by the log";
  const authors = events.map(({ actor, event_type: type }) => {
    const name = actor.login ?? actor.name ?? actor.id;
    return `by ${name === null ? "an unknown actor" : printable(name)} (${printable(type)})`;
  });
  return [...new Set(authors)].join(", ");
}
