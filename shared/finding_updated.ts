import { actorText, maxActorText } from "./actor.ts";
import { vulnIdOf } from "./rule_names.ts";
import type { Explanation, NewChange } from "./schemas/change.ts";
import type { FindingUpdated } from "./schemas/monitor.ts";
import type { Publisher } from "./send_event.ts";
import { categoryNames, parseSeverity } from "./severity.ts";
import { toLine } from "./text.ts";

/** In UTF-16 units, of at most three bytes each: six texts, four of decisions, four lists of 20 and one of actors fit into the 64 KiB of an event. */
const maxTextLength = 1700;
const maxDecisionLength = 300;
const maxListedLength = 80;

/** The event of a change, for any publisher. */
export const changeEvents = ({ sendEvent }: Publisher) => ({
  publishFindingUpdated: (channel: string, payload: FindingUpdated) => sendEvent(channel, "finding.updated", payload),
});

/** The payload of `finding.updated`: the change of one finding, flat, each text as one line that is cut so that the event fits. */
export function toFindingUpdated(monitorId: string, change: NewChange): FindingUpdated {
  const { check, resource, from, to, rule, explained_by: events } = change;
  const actors = events.map(({ actor }) => actorText(actor) ?? "");
  return {
    monitor_id: monitorId,
    id: change.id,
    check,
    vuln_id: vulnIdOf(check),
    cat: categoryNames[rule.severity],
    fingerprint: change.fingerprint,
    resource_type: text(resource.type),
    resource_id: text(resource.id),
    resource_name: text(resource.name),
    from: from?.status ?? null,
    from_reason: from?.reason ?? null,
    from_waived: change.from_waived,
    to: to?.status ?? null,
    to_reason: to?.reason ?? null,
    to_waived: change.to_waived,
    advisory: change.advisory,
    waiver_reason: decision(change.waiver_reason),
    waiver_by: decision(change.waiver_by),
    waiver_expires: change.waiver_expires,
    attestation_status: change.attestation_status,
    attestation_reason: decision(change.attestation_reason),
    attestation_by: decision(change.attestation_by),
    attestation_expires: change.attestation_expires,
    rule_status: rule.status,
    rule_reason: rule.reason,
    expected: text(change.expected),
    actual: text(change.actual),
    to_pass: change.to_pass === null ? null : text(change.to_pass),
    cause_id: change.cause_id,
    cause: change.cause,
    seen_at: new Date(change.seen_at).toISOString(),
    not_before: change.not_before && new Date(change.not_before).toISOString(),
    event_ids: list(events.map(({ uuid }) => uuid)),
    event_types: list(events.map(({ event_type: type }) => type)),
    event_objects: list(events.map(({ object }) => (object ? `${object.type} ${object.name}` : ""))),
    actors: list(actors, maxActorText),
    also: list(change.also),
  };
}

/** Returns what the history needs of such an event, with what the event has of the log's events. */
export function toMovedFinding(update: FindingUpdated) {
  const { check, to, cat, seen_at, not_before, cause, event_types: types, event_objects: objects, actors } = update;
  const severity = parseSeverity(cat) ?? ("medium" as const);
  return {
    check,
    to: to === null ? null : { status: to, reason: update.to_reason },
    rule: { status: update.rule_status, reason: update.rule_reason, severity },
    seen_at,
    not_before,
    cause,
    explained_by: update.event_ids.map((uuid, index) => ({
      uuid,
      event_type: types[index] ?? "",
      published: null,
      actor: toActor(actors[index]),
      transaction_id: null,
      object: toObject(objects[index]),
    })),
  };
}

function toActor(text = ""): Explanation["actor"] {
  if (text === "") return null;
  const [, name = text, login = null] = /^(.+) \((\S+)\)$/.exec(text) ?? [];
  return { id: null, type: null, login, name };
}

function toObject(text = ""): NonNullable<Explanation["object"]> | null {
  const [type = "", ...name] = text.split(" ");
  return type === "" ? null : { type, name: name.join(" ") };
}

function text(value: string): string {
  return toLine(value, maxTextLength);
}

function decision(value: string | null): string | null {
  return value === null ? null : toLine(value, maxDecisionLength);
}

function list(values: readonly string[], maxLength = maxListedLength): readonly string[] {
  return values.map((value) => toLine(value, maxLength));
}
