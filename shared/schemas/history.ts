import * as v from "valibot";
import { changeCauseSchema } from "./change.ts";
import { manualReasonSchema, severitySchema, statusSchema } from "./finding.ts";
import { described, time, uuid, type Output } from "./primitives.ts";

/** The verdicts of an organization over time, `scanstream.history/1`: what REST, the page and `history` show. */

export const actorSchema = described(
  v.object({ id: v.nullable(v.string()), login: v.nullable(v.string()), name: v.nullable(v.string()) }),
  "Who changed the configuration, as the provider's log named them then",
);

const causeSchema = described(
  v.picklist([...changeCauseSchema.options, "scan"]),
  "`scan`: seen by a scan; the others as in `scanstream.change/1`",
);

const intervalSchema = v.object({
  from: time,
  to: time,
  status: v.picklist([...statusSchema.options, "UNKNOWN"]),
  reason: described(v.nullable(manualReasonSchema), "With UNKNOWN: why it could not be read; null: nobody looked"),
});

export const exposureSchema = v.object({
  opened: v.object({
    not_before: described(v.nullable(time), "Until then another verdict was known; null: nothing was known"),
    known_at: time,
  }),
  closed: described(
    v.nullable(v.object({ not_before: time, known_at: time, actor: v.nullable(actorSchema) })),
    "By PASS, of the automated part too, or Not Applicable. `not_before`: the end of the last known FAIL. Null: it is open",
  ),
  actor: described(v.nullable(actorSchema), "Who opened it; null: not known"),
  cause: causeSchema,
  least_seconds: described(v.number(), "The time in it that is known as FAIL"),
  most_seconds: described(
    v.nullable(v.number()),
    "From `opened.not_before` to `closed.known_at`, or until now; null: nothing was known before, so nobody knows the most",
  ),
});

const daySchema = v.object({
  day: v.pipe(v.string(), v.isoDate(), v.description("UTC")),
  status: described(
    v.picklist([...statusSchema.options, "UNKNOWN"]),
    "The worst that was known on this day: FAIL, MANUAL, PASS; UNKNOWN: nothing was",
  ),
  reason: described(
    v.exactOptional(v.literal("not_applicable")),
    "With MANUAL, where the rule did not apply all the time that is known",
  ),
  known_seconds: v.number(),
});

const ruleHistorySchema = v.object({
  check: v.string(),
  vuln_id: described(v.nullable(v.string()), "Null: a rule that neither the catalog nor a report names"),
  severity: described(v.nullable(severitySchema), "As the last result had it; null: none is known"),
  intervals: v.array(intervalSchema),
  exposures: v.array(exposureSchema),
  days: v.array(daySchema),
});

/** A version of the organization's own document, and the checks whose results rested on it. */
const documentSchema = v.object({
  document: described(v.string(), "As findings quote it, with who approved it and when"),
  from: described(time, "Start of the first scan with results that rest on it, and the end of the last one"),
  to: time,
  checks: v.array(v.string()),
});

export const historySchema = v.object({
  schema: v.literal("scanstream.history/1"),
  from: time,
  to: time,
  organizations: v.array(
    v.object({
      id: v.exactOptional(uuid()),
      org_url: v.string(),
      rules: v.array(ruleHistorySchema),
      documents: v.exactOptional(described(v.array(documentSchema), "First the oldest")),
    }),
  ),
});

/** A line of `follow`: the time in which it read the provider's log without a gap. */
export const watchSchema = v.object({
  schema: v.literal("scanstream.watch/1"),
  org_url: v.string(),
  monitor_id: v.exactOptional(v.string()),
  from: time,
  to: time,
});

export type HistoryActor = Output<typeof actorSchema>;
export type Interval = Output<typeof intervalSchema>;
export type Exposure = Output<typeof exposureSchema>;
export type HistoryDay = Output<typeof daySchema>;
export type RuleHistory = Output<typeof ruleHistorySchema>;
export type History = Output<typeof historySchema>;
export type WatchLine = Output<typeof watchSchema>;
