import { randomUUID } from "node:crypto";
import { toFindingUpdated } from "../../shared/finding_updated.ts";
import type { NewChange } from "../../shared/schemas/change.ts";

interface PublishedEvent {
  readonly type: string;
  readonly data: object;
}

/** The body of a publish request, from a producer that has published nothing before. */
export function numbered<Event extends PublishedEvent>(events: readonly Event[]) {
  const producer = randomUUID();
  return { events: events.map((event, index) => ({ ...event, delivery_id: `${producer}.${index + 1}` })) };
}

/** Findings of a scan, as a scanner publishes them. */
export function findingEvents(scanId: string, findings: readonly object[]) {
  const given = { scan_id: scanId, severity: "medium", resource_name: "", detail: "" };
  return numbered(findings.map((finding) => ({ type: "finding.created", data: { ...given, ...finding } })));
}

/** Changes of a monitor, as a follower publishes them. */
export function changeEvents(monitorId: string, changes: readonly NewChange[]) {
  return numbered(
    changes.map((change) => ({ type: "finding.updated" as const, data: toFindingUpdated(monitorId, change) })),
  );
}

interface ReadEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The events in a stream's text, without their ids. */
export function eventsIn(text: string): readonly ReadEvent[] {
  return [...text.matchAll(/event: (\S+)\ndata: ([^\n]*)\n\n/g)].map(([, type = "", data = ""]) => ({
    type,
    data: JSON.parse(data) as ReadEvent["data"],
  }));
}
