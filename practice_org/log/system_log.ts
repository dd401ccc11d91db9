import { randomBytes, randomUUID } from "node:crypto";
import type { JsonObject } from "../../shared/json.ts";
import { copyOf, recordedEvent } from "../contents/new_objects.ts";

/** An entry of the System Log as the provider sends it; field order and nulls as in the reference. */
export interface LogEvent extends JsonObject {
  readonly uuid: string;
  readonly published: string;
  readonly eventType: string;
  readonly displayMessage: string | null;
  readonly actor: LogActor;
  readonly target: readonly LogTarget[] | null;
}

export interface LogActor extends JsonObject {
  readonly id: string;
  readonly type: string;
  readonly alternateId: string;
  readonly displayName: string;
}

export interface LogTarget extends JsonObject {
  readonly id: string | null;
  readonly type: string | null;
  readonly alternateId: string | null;
  readonly displayName: string | null;
}

export interface LogEventSpec {
  readonly eventType: string;
  readonly displayMessage: string;
  /** Null: an event that names none. */
  readonly targets: readonly LogTarget[] | null;
  readonly outcome?: { readonly result: string; readonly reason: string | null };
}

export interface LogEntry {
  readonly event: LogEvent;
  /** When the log took the event in: it orders the log, `event.published` does not. */
  readonly persistedMs: number;
  /** Position in the log, from 0, also after old entries are gone. */
  readonly position: number;
}

/** The org's System Log, in the order of persistence. */
export interface SystemLog {
  /**
   * Writes the events of one transaction, and gives them. `requestUri`: the part of the Admin Console's API that was called;
   * default: `/admin`.
   */
  write(
    specs: readonly LogEventSpec[],
    options: { readonly actor: LogActor; readonly requestUri?: string },
  ): readonly LogEvent[];
  entries(): readonly LogEntry[];
}

/** The faults that change what is written; the org has others. */
type EventFault = "duplicate-events" | "event-without-target" | "missing-events" | "unknown-event-type";

/** Kept in memory: the newest entries. */
const maxEntries = 200_000;

export function createSystemLog(
  clock: () => number,
  takeFaults: () => readonly string[],
  kept: readonly LogEntry[] = [],
): SystemLog {
  let entries = [...kept];
  let nextPosition = (kept.at(-1)?.position ?? -1) + 1;
  const append = (event: LogEvent, persistedMs: number) => {
    entries.push({ event, persistedMs, position: nextPosition });
    nextPosition += 1;
    if (entries.length > maxEntries * 1.1) entries = entries.slice(-maxEntries);
  };
  return {
    write(specs, { actor, requestUri = "/admin" }) {
      const names = takeFaults();
      const has = (fault: EventFault) => names.includes(fault);
      if (has("missing-events")) return [];
      const nowMs = clock();
      // The provider's transaction ids are 22 characters of base64 with a fixed beginning or end; ours are as long.
      const transaction = randomBytes(18).toString("base64url").slice(0, 22);
      const published = new Date(nowMs).toISOString();
      const events = specs.map((spec): LogEvent => {
        const { displayMessage, eventType, targets, outcome } = withFaults(spec, has);
        const event = copyOf(recordedEvent, { transaction, published, requestUri, uuid: randomUUID() });
        return { ...event, actor, displayMessage, eventType, outcome: outcome ?? event.outcome, target: targets };
      });
      const copies = has("duplicate-events") ? [events, events] : [events];
      for (const event of copies.flat()) append(event, nowMs);
      return events;
    },
    entries: () => entries,
  };
}

function withFaults(spec: LogEventSpec, has: (fault: EventFault) => boolean): LogEventSpec {
  const family = spec.eventType.split(".").slice(0, -1).join(".");
  return {
    ...spec,
    ...(has("unknown-event-type") ? { eventType: `${family}.reshuffle` } : {}),
    ...(has("event-without-target") ? { targets: null } : {}),
  };
}

/** Events of a sign-in: traffic, no change. */
export function signInEvents(actor: LogActor): readonly LogEventSpec[] {
  return [
    {
      eventType: "policy.evaluate_sign_on",
      displayMessage: "Evaluation of sign-on policy",
      targets: [
        { id: "00p0practice0default", type: "PolicyEntity", alternateId: "unknown", displayName: "Default Policy" },
      ],
      outcome: { result: "ALLOW", reason: "Sign-on policy evaluation resulted in ALLOW" },
    },
    {
      eventType: "user.session.start",
      displayMessage: "User login to Okta",
      targets: [{ ...actor, type: "User" }],
    },
  ];
}
