import { findCheck } from "./check_catalog.ts";
import { controlsOf, type FindingsFilter } from "./findings_filter.ts";
import { formatVerdict } from "./format.ts";
import { worstState, type CheckState, type Finding } from "./scan_model.ts";
import { stateOf } from "../../../shared/rule_result.ts";
import { mapNotes } from "../../../shared/schemas/finding_notes.ts";
import type { Change, Explanation } from "../monitor_wire.ts";

/** A present verdict as the finding that the page shows; null where it is gone. */
export function toFinding(change: Change, order: number): Finding | null {
  const { to, from, check, resource, actual, cause, seen_at } = change;
  if (to === null) return null;
  // What is no longer known is shown in addition, never instead.
  const before =
    to.status === "MANUAL" && from !== null && from.status !== "MANUAL" ? `${formatVerdict(from)} before` : "";
  return {
    fingerprint: change.fingerprint,
    check,
    status: to.status,
    severity: severityOf(check),
    resource_name: resource.name,
    detail: [actual, before].filter((part) => part !== "").join(" · "),
    expected: null,
    actual,
    reason: to.reason,
    resource_type: resource.type,
    resource_id: resource.id,
    automated: to.reason === "partly_automated" ? "PASS" : null,
    cause: null,
    ...mapNotes(() => null),
    advisory: false,
    order,
    // A decision changes no verdict, so how long it has held is not known from its change.
    sinceMs: ["start", "decision", "org_policy"].includes(cause) ? null : Date.parse(seen_at),
  };
}

/** Checks as their findings make them. */
export function toChecks(findings: Iterable<Finding>): readonly CheckState[] {
  const checks = new Map<string, CheckState>();
  for (const finding of findings) {
    const { check, severity } = finding;
    const known = checks.get(check);
    checks.set(check, {
      check,
      state: worstState([stateOf(finding), ...(known === undefined ? [] : [known.state])]),
      severity,
      findingCount: (known?.findingCount ?? 0) + 1,
      order: known?.order ?? checks.size,
    });
  }
  return [...checks.values()];
}

/** The changes that a filter of findings lets through: by what they were, or by what they are now. */
export function filterChanges(changes: readonly Change[], filter: FindingsFilter): readonly Change[] {
  const words = filter.text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const { states, severities } = filter;
  return changes.filter((change) => {
    const { check, from, to, resource, actual } = change;
    if (filter.check !== null && filter.check !== check) return false;
    if (filter.control !== null && !controlsOf(check).includes(filter.control)) return false;
    if (states.size > 0 && ![from, to].some((verdict) => verdict !== null && states.has(stateOf(verdict))))
      return false;
    if (severities.size > 0 && !severities.has(severityOf(check))) return false;
    if (words.length === 0) return true;
    const people = change.explained_by.map((event) => `${event.event_type} ${actorOf(event) ?? ""}`);
    const rule = findCheck(check);
    const names = [
      resource.name,
      resource.id,
      check,
      check.replaceAll("_", " "),
      rule?.title,
      rule?.stigId,
      rule?.vulnId,
    ];
    const text = [...names, actual, ...people].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Found by a full scan, and by no event of the log. */
export function isUnexplained({ cause, explained_by }: Change): boolean {
  return ["log", "reconciliation"].includes(cause) && explained_by.length === 0;
}

/** Who it was, as the log names them; null where it does not. */
export function actorOf({ actor }: Explanation): string | null {
  const names = [actor?.name, actor?.login].filter((name): name is string => typeof name === "string" && name !== "");
  const [name = actor?.id ?? null, login] = names;
  return login === undefined || login === name ? name : `${name} (${login})`;
}

function severityOf(check: string): Finding["severity"] {
  return findCheck(check)?.severity ?? "medium";
}
