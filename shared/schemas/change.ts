import * as v from "valibot";
import { findingEntries, manualReasonSchema, ownDecisionEntries, severitySchema, statusSchema } from "./finding.ts";
import { described, exactOptionalEntries, instant, oneOf, text, time, uuid, type Output } from "./primitives.ts";

/** A verdict that moved, `scanstream.change/1`: a line of `follow`, and what the gateway lists. */

/**
 * `log`: seen after an event of the log. `start`: the first state of a monitor. `reconciliation`: found by a full scan, and by no event of the log. `decision`: the verdict
 * is the same, and a waiver or an attestation of it began or ended. `org_policy`: the organization's document is another one, or begins or ends.
 */
export const changeCauseSchema = oneOf("log", "reconciliation", "start", "decision", "org_policy");

/** Fields of a change, also as an event. */
export const causeIdSchema = v.optional(findingEntries.cause, null);
export const notBeforeSchema = described(
  v.optional(v.nullable(instant), null),
  "Until then the result before is known: the time of the log's event, or of the last full scan where no event explains it. Null: it was seen as it came about, or is the first state",
);

const { check, fingerprint, resource_type: name, expected, actual, to_pass: toPass, advisory } = findingEntries;
/** A text of the provider's log, in which anything may be missing. */
const provided = v.optional(v.nullable(text(0, 2048)), null);

/** An event of the provider's log, next to the change. */
const explanationSchema = v.strictObject({
  uuid: text(1, 200),
  event_type: text(1, 200),
  published: v.optional(v.nullable(text(0, 100)), null),
  actor: v.optional(
    v.nullable(v.strictObject({ id: provided, type: provided, login: provided, name: provided })),
    null,
  ),
  transaction_id: provided,
  object: described(
    v.exactOptional(v.nullable(v.strictObject({ type: text(0, 2048), name: text(0, 2048) }))),
    "What the event was about, where the log says it",
  ),
  ip_address: described(v.exactOptional(v.nullable(text(0, 100))), "Only with `--with-addresses`"),
});

const maxExplanations = 20;
const explanationsMessage = `expected an array of at most ${maxExplanations} log events`;
const alsoMessage = `expected an array of at most ${maxExplanations} texts`;
const verdictEntries = { status: statusSchema, reason: v.optional(v.nullable(manualReasonSchema), null) };
const verdictSchema = v.strictObject(verdictEntries);
const ruleSchema = v.strictObject({
  ...verdictEntries,
  severity: described(severitySchema, "By the producer's catalog: high is CAT I, medium CAT II, low CAT III"),
});

const waived = v.optional(v.boolean("expected true or false"), false);

const entries = {
  id: uuid(),
  check,
  fingerprint,
  resource: v.strictObject({ type: name, id: name, name }),
  from: described(v.nullable(verdictSchema), "Null: the finding is new"),
  to: described(v.nullable(verdictSchema), "Null: the finding is gone"),
  from_waived: described(waived, "A waiver was in force before it"),
  to_waived: described(waived, "A waiver is in force after it"),
  advisory: v.optional(advisory, false),
  expected: v.optional(expected, ""),
  actual,
  to_pass: v.optional(toPass, null),
  cause_id: causeIdSchema,
  rule: described(ruleSchema, "The verdict of the whole rule after it"),
  seen_at: instant,
  not_before: notBeforeSchema,
  cause: changeCauseSchema,
  explained_by: v.pipe(
    v.array(explanationSchema, explanationsMessage),
    v.maxLength(maxExplanations, explanationsMessage),
    v.description("Events about the finding's objects, whose actors changed it; empty: the log names nobody"),
  ),
  also: described(
    v.optional(v.pipe(v.array(text(0, 2048), alsoMessage), v.maxLength(maxExplanations, alsoMessage)), []),
    "Other events of the same interval, each as its type and the name of its object; they name nobody",
  ),
};

const schemaName = "scanstream.change/1";

/** A line of `follow --format ndjson`, with fields that a later version may add. */
export const changeLineSchema = v.object({
  schema: v.literal(schemaName, `expected ${schemaName}`),
  org_url: described(v.exactOptional(text(1, 2048)), "The organization that is followed"),
  monitor_id: v.exactOptional(text(1, 200)),
  ...entries,
  ...exactOptionalEntries(ownDecisionEntries),
});

/** A change as the gateway lists it: the line, and when it was stored. */
export const changeSchema = v.object({
  schema: v.literal(schemaName),
  ...entries,
  ...ownDecisionEntries,
  created_at: time,
});

export type ChangeLineInput = Output<typeof changeLineSchema>;
export type NewChange = Omit<Change, "created_at" | "schema">;
export type Change = Output<typeof changeSchema>;
export type Explanation = Output<typeof explanationSchema>;
