import { createTransactionId, logEvent, type LogActor, type LogEvent, type LogEventSpec } from "./log_events.ts";
import type { SystemLog } from "./system_log.ts";

export interface WriteOptions {
  readonly actor: LogActor;
  readonly requestUri?: string;
  /** How long after it happened the log takes an event in. */
  readonly persistAfterMs?: number;
}

export interface EventWriter {
  /** Writes the events of one transaction, and gives the ones that the log gets. */
  write(specs: readonly LogEventSpec[], options: WriteOptions): readonly LogEvent[];
}

/** The faults that change what is written; the org has others. */
type EventFault =
  | "duplicate-events"
  | "event-flood"
  | "event-without-target"
  | "hostile-actor"
  | "late-events"
  | "missing-events"
  | "unknown-event-type";

const lateMs = 30_000;
const floodSize = 10_000;
/** Markup, a terminal's escape, a change of the writing direction, a second line, a lone surrogate. */
const hostileName = `<script>alert(1)</script>\u001B[31m\u202E"'\r\nx: y\u0000\uD800${"A".repeat(10_000)}`;

export function createEventWriter(parts: {
  readonly log: SystemLog;
  readonly clock: () => number;
  readonly takeFaults: () => readonly string[];
}): EventWriter {
  const { log, clock, takeFaults } = parts;
  return {
    write(specs, { actor, requestUri = "/admin", persistAfterMs = 0 }) {
      const names = takeFaults();
      const has = (fault: EventFault) => names.includes(fault);
      if (has("missing-events")) return [];
      const nowMs = clock();
      const who = has("hostile-actor") ? { ...actor, displayName: hostileName } : actor;
      const transaction = { id: createTransactionId(), actor: who, nowMs, requestUri };
      const events = specs.map((spec) => logEvent(transaction, withFaults(spec, has)));
      const persistMs = nowMs + persistAfterMs + (has("late-events") ? lateMs : 0);
      const copies = has("duplicate-events") ? [events, events] : [events];
      for (const event of copies.flat()) log.append(event, persistMs);
      if (has("event-flood")) appendFlood(log, actor, nowMs);
      return events;
    },
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

function appendFlood(log: SystemLog, actor: LogActor, nowMs: number): void {
  const transaction = { id: createTransactionId(), actor, nowMs, requestUri: "/api/v1/authn" };
  for (let written = 0; written < floodSize; written += 1) {
    for (const spec of signInEvents(actor).slice(written % 2, (written % 2) + 1)) {
      log.append(logEvent(transaction, spec), nowMs);
    }
  }
}

/** What the log gets when a person signs in: traffic, no change. */
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
