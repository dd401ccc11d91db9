import * as v from "valibot";
import { endMessage, endOfExpiry, expiryMessage, toExpires } from "../decisions/expiry.ts";
import { maxPatternLength } from "../decisions/decision_finder.ts";
import { described, maxTimeMs, oneOf, text, time, uuid, type Output } from "./primitives.ts";
import { actorKindSchema } from "./team.ts";
import { webAddress } from "./web_address.ts";

/** Decisions of people about findings, kept at the gateway: the same as in the file of `--decisions`. */

const decisionKindSchema = oneOf("waiver", "attestation");

export const attestedStatusSchema = oneOf("PASS", "FAIL", "NOT_APPLICABLE");

const maxReasonLength = 2000;

const expires = v.pipe(
  v.string(endMessage),
  v.check((value) => toExpires(value) === null || !Number.isNaN(endOfExpiry(value)), endMessage),
  v.check(
    (value) => toExpires(value) === null || endOfExpiry(value) <= maxTimeMs,
    'expected a time before 9999-12-31, or "never"',
  ),
  v.description("A day (until its end, UTC), a date-time with its offset, or `never`: until it is withdrawn"),
  v.metadata({ pattern: "^(never|\\d{4}-\\d{2}-\\d{2}(T[\\d:.]+(Z|[+-]\\d{2}:\\d{2}))?)$" }),
);

const common = {
  check: described(text(1, 200), "The check's name, or its rule's V-, SV- or OKTA-APP-id; stored as the check's name"),
  reason: v.pipe(
    text(1, maxReasonLength),
    v.check((value) => value.trim() !== "", "expected text that is not blank"),
  ),
  by: described(v.exactOptional(v.nullable(v.string("expected text"))), "Ignored: the author is the caller"),
  expires,
  org_url: described(
    v.exactOptional(v.nullable(webAddress)),
    "The organization that it is about; null: every one of the tenant",
  ),
  replaces: described(v.exactOptional(v.nullable(uuid())), "The id of one like it, which ends with it"),
};

/** The body of `POST /decisions`. */
export const newDecisionSchema = v.variant(
  "kind",
  [
    v.strictObject({
      kind: v.literal("waiver"),
      ...common,
      resource: described(
        v.exactOptional(v.nullable(text(1, maxPatternLength))),
        "An exact id or name, or a name with `*` and `?`; null: every finding of the check",
      ),
      status: v.exactOptional(v.null("expected null: a waiver leaves the status as it is")),
    }),
    v.strictObject({
      kind: v.literal("attestation"),
      ...common,
      resource: v.exactOptional(v.null("expected null: an attestation is about the whole check")),
      status: attestedStatusSchema,
    }),
  ],
  "expected waiver or attestation",
);

/** A decision whose end cannot be read would hold for ever. */
export const decisionEnd = v.pipe(
  v.string(expiryMessage),
  v.check((text) => !Number.isNaN(endOfExpiry(text)), expiryMessage),
);

/** A decision as the API shows it, and as the events of its tenant carry it. */
export const decisionSchema = v.object({
  id: uuid(),
  decision_id: uuid(),
  tenant_id: uuid(),
  kind: decisionKindSchema,
  check: v.string(),
  resource: v.nullable(v.string()),
  status: v.nullable(attestedStatusSchema),
  reason: v.string(),
  by: described(v.string(), "The member's subject, or the API key's name"),
  by_kind: actorKindSchema,
  expires: described(v.nullable(v.string()), "Null: never"),
  org_url: v.nullable(v.string()),
  state: v.picklist(["active", "expired", "withdrawn", "contradicted"]),
  created_at: time,
  ended_at: v.nullable(time),
  ended_by: described(v.nullable(v.string()), "Who withdrew it"),
  ended_scan_id: described(v.nullable(uuid()), "The scan that found what an attestation denies"),
});

export type DecisionKind = Output<typeof decisionKindSchema>;
export type AttestedStatus = Output<typeof attestedStatusSchema>;
export type NewDecision = Output<typeof newDecisionSchema>;
export type Decision = Output<typeof decisionSchema>;
