import { randomUUID } from "node:crypto";
import { ownDecisionsOf } from "../../scanner/streaming/finding_created.ts";
import type { Explanation, NewChange } from "../../shared/schemas/change.ts";

export const pass = { status: "PASS", reason: null } as const;
export const fail = { status: "FAIL", reason: null } as const;

/** A change that the log explains, with everything a test does not care about filled in. */
export function aChange(changes: Partial<NewChange> = {}): NewChange {
  const { to = fail } = changes;
  return {
    id: randomUUID(),
    check: "signon_global_session_idle_timeout_15min",
    fingerprint: "00p1-fingerprint",
    resource: { type: "policy", id: "00p1", name: "Default Policy" },
    from: pass,
    to,
    from_waived: false,
    to_waived: false,
    advisory: false,
    ...ownDecisionsOf(null, null),
    expected: "at most 15 minutes",
    actual: "120 minutes",
    to_pass: null,
    cause_id: null,
    rule: { ...(to ?? pass), severity: "medium" },
    seen_at: new Date().toISOString(),
    not_before: null,
    cause: "log",
    explained_by: [anExplanation()],
    also: [],
    ...changes,
  };
}

export function anExplanation(changes: Partial<Explanation> = {}): Explanation {
  return {
    uuid: randomUUID(),
    event_type: "policy.rule.update",
    published: new Date().toISOString(),
    actor: { id: "00u1", type: "User", login: "admin@acme.example", name: "Ada Admin" },
    transaction_id: "t1",
    ...changes,
  };
}
