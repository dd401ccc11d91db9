import * as v from "valibot";
import { manualReasonSchema, severitySchema, statusSchema } from "../../shared/schemas/finding.ts";
import { count, described, type Output } from "../../shared/schemas/primitives.ts";

/** Differences between two scans of an organization: `scanstream.diff/1`. */

const sideSchema = v.object({
  file: v.string(),
  org_url: v.string(),
  benchmark: described(v.string(), "`okta-idaas-stig-v1r2`"),
  ended_at: v.string(),
  scan_id: described(v.nullable(v.string()), "Null for artifacts"),
});

/** In the order in which they are listed. */
export const findingChanges = ["new", "verdict_moved", "reason_moved", "value_changed", "resolved", "gone"] as const;
export const objectChanges = ["added", "removed", "changed"] as const;

const verdictSchema = v.object({
  status: statusSchema,
  reason: v.nullable(manualReasonSchema),
  expected: v.string(),
  actual: v.string(),
});

const findingChangeSchema = v.object({
  change: described(
    v.picklist(findingChanges),
    "new: there was none; resolved: it was open, and passes now or its resource is gone; gone: no longer seen, and it was not open or may still be there; else of status, reason and value the first that differs",
  ),
  check: v.string(),
  severity: severitySchema,
  resource: v.object({ type: v.string(), id: v.string(), name: v.string() }),
  before: v.nullable(verdictSchema),
  after: v.nullable(verdictSchema),
});

const fieldChangeSchema = v.object({
  path: described(v.string(), "`settings.password.age.maxAgeDays`, `roles[Super Administrator].type`"),
  from: described(v.unknown(), "Null: not set"),
  to: v.unknown(),
});

const objectChangeSchema = v.object({
  change: v.picklist(objectChanges),
  type: described(v.string(), "policy, policy_rule, app, zone, …"),
  id: v.string(),
  name: v.string(),
  checks: described(v.array(v.string()), "The checks that examine the list that it stands in"),
  fields: described(v.array(fieldChangeSchema), "Empty for one that was added or removed"),
});

const evidenceSchema = v.object({
  artifact: v.string(),
  before: described(v.string(), "obtained, not_collected, or the reason why it is missing"),
  after: v.string(),
});

export const diffSchema = v.object({
  schema: v.literal("scanstream.diff/1"),
  kind: described(v.picklist(["reports", "artifacts"]), "Reports hold no configuration: `objects` is null"),
  before: sideSchema,
  after: sideSchema,
  identical: v.boolean(),
  summary: v.object({
    findings: v.object(v.entriesFromList(findingChanges, count)),
    objects: v.nullable(v.object(v.entriesFromList(objectChanges, count))),
  }),
  findings: v.array(findingChangeSchema),
  objects: v.nullable(v.array(objectChangeSchema)),
  evidence: described(v.array(evidenceSchema), "Not whole on both sides: objects in it are not compared"),
  not_compared: described(
    v.array(v.object({ check: v.string(), only_in: v.picklist(["before", "after"]) })),
    "Checks that only one of the two evaluated",
  ),
  rules: described(
    v.nullable(v.array(v.object({ check: v.string(), vuln_id: v.string(), change: v.picklist(objectChanges) }))),
    "What differs between the two revisions of the STIG, not in the org; null: both have the same one",
  ),
});

export type Diff = Output<typeof diffSchema>;
export type FindingChange = Diff["findings"][number];
export type ObjectChange = NonNullable<Diff["objects"]>[number];
export type FieldChange = ObjectChange["fields"][number];
