import { createTransactionId, logEvent, type LogActor, type LogEvent, type LogEventSpec } from "./log_events.ts";
import type { SystemLog } from "./system_log.ts";

interface WriteOptions {
  readonly actor: LogActor;
  readonly requestUri?: string;
}

export interface EventWriter {
  /** Writes the events of one transaction, and gives the ones that the log gets. */
  write(specs: readonly LogEventSpec[], options: WriteOptions): readonly LogEvent[];
}

/** The faults that change what is written; the org has others. */
type EventFault = "duplicate-events" | "event-without-target" | "missing-events" | "unknown-event-type";

export function createEventWriter(parts: {
  readonly log: SystemLog;
  readonly clock: () => number;
  readonly takeFaults: () => readonly string[];
}): EventWriter {
  const { log, clock, takeFaults } = parts;
  return {
    write(specs, { actor, requestUri = "/admin" }) {
      const names = takeFaults();
      const has = (fault: EventFault) => names.includes(fault);
      if (has("missing-events")) return [];
      const nowMs = clock();
      const transaction = { id: createTransactionId(), actor, nowMs, requestUri };
      const events = specs.map((spec) => logEvent(transaction, withFaults(spec, has)));
      const copies = has("duplicate-events") ? [events, events] : [events];
      for (const event of copies.flat()) log.append(event, nowMs);
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
