import * as v from "valibot";
import { automatedSchema, manualReasonSchema, severitySchema, statusSchema } from "./finding.ts";
import { mapNotes } from "./finding_notes.ts";
import { count, described, uuid, type Output } from "./primitives.ts";
import { attestationSchema, planSchema, waiverSchema } from "./report_decisions.ts";
import { statusCountsEntries } from "./scan.ts";

export type { Attestation, Milestone, Plan, Waiver } from "./report_decisions.ts";

/**
 * The report of one scan, `scanstream.report/1`: the value that every report format is written from. Versions 1.1 and 1.2
 * added optional fields, which readers of 1.0 pass over. A field with a default is in every report that scanstream writes; one
 * without it may have been written by hand or by another program.
 */

const isoTime = v.pipe(v.string(), v.metadata({ format: "date-time" }));
const someText = v.pipe(v.string(), v.nonEmpty());

/** A reason is set with MANUAL, and only then. */
const reason = v.nullable(manualReasonSchema);
const reasonRule = {
  oneOf: [
    { properties: { status: { const: "MANUAL" }, reason: { type: "string" } } },
    { properties: { status: { enum: ["PASS", "FAIL"] }, reason: { type: "null" } } },
  ],
};

const resourceSchema = v.object({
  type: described(v.string(), "What kind of thing was examined: policy, app, api_token, org, …"),
  id: v.string(),
  name: v.string(),
});

/** A rule that was judged by the organization's values (its document, --org-policy), not by the STIG's. */
const tailoringSchema = v.object({
  effect: described(
    v.picklist(["stricter", "looser"]),
    "looser: any value is; then no checklist calls the rule not a finding",
  ),
  parameters: v.array(
    v.object({
      name: v.string(),
      unit: v.string(),
      value: v.union([v.number(), v.array(v.string())]),
      stig_value: v.union([v.number(), v.array(v.string())]),
      effect: v.picklist(["stricter", "looser"]),
    }),
  ),
  stig_status: described(statusSchema, "The verdict by the STIG's own values"),
  stig_reason: v.nullable(manualReasonSchema),
});

export const findingSchema = v.pipe(
  v.object({
    status: statusSchema,
    stig_status: described(
      v.optional(statusSchema),
      "The verdict on the same resource by the STIG's own values, where the organization has its own",
    ),
    reason,
    resource: resourceSchema,
    expected: v.string(),
    actual: v.string(),
    detail: described(someText, "One sentence that names the resource, what was expected and what was found"),
    fingerprint: described(someText, "Stable over runs: the same check, resource and org give the same value"),
    waived: v.boolean(),
    waiver: described(v.optional(v.nullable(waiverSchema), null), "The waiver in force; null when waived is false"),
    change: described(
      v.nullable(v.picklist(["new", "unchanged", "resolved"])),
      "Against a baseline report; null without one",
    ),
    automated: v.optional(automatedSchema, null),
    advisory: described(
      v.optional(v.boolean(), false),
      "true: it changes neither the check's status nor the exit code",
    ),
    cause: described(
      v.optional(v.nullable(v.string()), null),
      "The id of the object whose change makes it pass, with FAIL; null: it has none (since 1.2)",
    ),
    ...mapNotes((_, { description, since }) =>
      described(v.exactOptional(v.string()), `${description} (since ${since})`),
    ),
    plan: v.exactOptional(described(planSchema, "Absent without one (since 1.1)")),
    detected_first: described(
      v.exactOptional(isoTime),
      "End of the first scan that had it, as far as the baselines tell; absent: this one (since 1.1)",
    ),
  }),
  v.metadata(reasonRule),
);

const checkSchema = v.pipe(
  v.object({
    check: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]*$/)),
    vuln_id: v.pipe(v.string(), v.regex(/^V-[0-9]+$/)),
    stig_id: v.string(),
    rule_id: v.pipe(v.string(), v.regex(/^SV-[0-9]+r[0-9]+_rule$/)),
    severity: severitySchema,
    category: v.picklist(["I", "II", "III"]),
    title: v.string(),
    status: statusSchema,
    reason,
    detail: someText,
    automated: described(
      v.optional(v.nullable(v.literal("PASS")), null),
      "PASS, with MANUAL: each of its findings that needs a person passed as far as it is automated",
    ),
    attestation: v.optional(v.nullable(attestationSchema), null),
    tailoring: described(v.optional(tailoringSchema), "Absent: judged by the STIG's values"),
    carried: described(
      v.optional(v.object({ from: v.string(), review: v.boolean() })),
      "A person answered the rule in a checklist (--checklist) of this other revision; review: its text is another one here",
    ),
    findings: v.array(findingSchema),
  }),
  v.metadata(reasonRule),
);

const scanSummarySchema = v.object({
  id: uuid(),
  tenant_id: v.nullable(uuid()),
  org_url: v.pipe(v.string(), v.metadata({ format: "uri" })),
  client_id: v.string(),
  engine: v.picklist(["identity", "classic", "unknown"]),
  started_at: isoTime,
  ended_at: isoTime,
  status: v.picklist(["completed", "cancelled", "failed"]),
  requested_scopes: v.array(v.string()),
  granted_scopes: v.array(v.string()),
  role: v.picklist(["super_admin", "read_only_admin", "unknown"]),
  requests: v.object({
    total: count,
    retried: count,
    throttled_ms: described(count, "Time spent waiting for the provider's rate limit, in milliseconds"),
  }),
});

/** A finding that the baseline had and this scan, which evaluated the check, no longer has. */
const resolvedFindingSchema = v.object({ check: v.string(), resource: resourceSchema, fingerprint: v.string() });

const comparisonSchema = v.object({
  scan_id: v.string(),
  new: count,
  unchanged: count,
  resolved: count,
  gone: described(
    v.array(resolvedFindingSchema),
    "The resolved ones whose resource is gone, so that no finding of this report can carry the mark",
  ),
});

/** The kinds of objects whose change can close a finding. */
export const causeTypes = ["policy_rule", "policy", "zone", "app", "authenticator", "api_token", "brand"] as const;

/** The smallest object whose change closes failing findings that nobody waived. */
const causeSchema = v.object({
  id: v.pipe(v.string(), v.regex(/^[0-9a-f]{12}$/), v.description("The same for the same object in every scan")),
  object: v.object({ type: v.picklist(causeTypes), id: v.string(), name: v.string() }),
  checks: described(v.array(v.string()), "The checks whose findings it closes"),
  closes: described(v.array(v.string()), "The checks that it closes alone, with no other change"),
  findings: count,
  fingerprints: described(v.array(v.string()), "Of these findings"),
  change: described(someText, "What to change, in one sentence"),
});

/** A control of NIST SP 800-53 rev. 5, as far as the rules of the STIG examine it. */
const controlSchema = v.object({
  id: described(v.string(), "As in OSCAL: ac-2.3"),
  label: described(v.string(), "As people write it: AC-2(3)"),
  title: v.string(),
  baselines: described(v.array(v.picklist(["low", "moderate", "high"])), "Those of SP 800-53B that select it"),
  status: described(
    statusSchema,
    "FAIL if a rule that names it fails; PASS if every such rule of the STIG was examined and is met or does not apply, at least one met; else MANUAL",
  ),
  reason: described(
    v.exactOptional(v.literal("not_applicable")),
    "With MANUAL: no rule that names it applies (since 1.2)",
  ),
  checks: described(v.array(v.string()), "The checks of this report whose rules name it"),
});

const summarySchema = v.object({
  ...statusCountsEntries,
  not_applicable: described(
    v.optional(count, 0),
    "Rules that do not apply to the organization (since 1.2; before that they were in manual)",
  ),
  attested: described(
    v.optional(count, 0),
    "How many of the rules a person attested; each counts as what it was attested to (since 1.2)",
  ),
  automated: described(v.optional(count, 0), "How many of `manual` passed as far as they are automated"),
  waived: described(v.optional(count, 0), "How many of `fail` are waived in everything that fails"),
});

/** The organization's own document, with which the org was compared. */
const orgPolicySchema = v.object({
  reference: someText,
  approved_by: someText,
  approved_on: v.string(),
  expires: v.string(),
  standing: described(
    v.picklist(["in_force", "expired", "not_in_force_yet"]),
    "Only a document in force decides anything",
  ),
  sha256: described(v.string(), "Of the document as compact JSON"),
});

/** A gateway keeps no larger one, compressed. */
export const maxStoredReportBytes = 8 * 1_048_576;

export const reportSchema = v.object({
  schema: v.literal("scanstream.report/1"),
  org_policy: v.exactOptional(described(orgPolicySchema, "Absent: none was given")),
  benchmark: described(v.optional(v.string()), "By which it was judged: `okta-idaas-stig-v1r2`"),
  evidence_sha256: v.exactOptional(
    v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/), v.description("Of the file of evidence that was judged")),
  ),
  scan: scanSummarySchema,
  summary: described(
    summarySchema,
    "Counts of rules: pass, fail, manual and not_applicable add up to all; automated, attested and waived are parts of them",
  ),
  checks: v.array(checkSchema),
  baseline: described(v.optional(v.nullable(comparisonSchema), null), "Null without a baseline"),
  causes: described(
    v.optional(v.array(causeSchema), []),
    "What to change, first what closes most rules alone (since 1.2)",
  ),
  controls: v.exactOptional(
    described(v.array(controlSchema), "The same verdicts by control of NIST SP 800-53 rev. 5 (since 1.1)"),
  ),
});

/** The parts that `report.schema.json` names. */
export const reportDefinitions = {
  scan: scanSummarySchema,
  check: checkSchema,
  finding: findingSchema,
  resource: resourceSchema,
  waiver: waiverSchema,
  attestation: attestationSchema,
  tailoring: tailoringSchema,
  comparison: comparisonSchema,
  plan: planSchema,
  control: controlSchema,
  cause: causeSchema,
};

export type Report = Output<typeof reportSchema>;
export type ScanSummary = Output<typeof scanSummarySchema>;
export type StatusCounts = Pick<Report["summary"], keyof typeof statusCountsEntries>;
export type CheckResult = Output<typeof checkSchema>;
export type Finding = Output<typeof findingSchema>;
export type FindingResource = Output<typeof resourceSchema>;
export type ControlResult = Output<typeof controlSchema>;
export type Cause = Output<typeof causeSchema>;
export type CauseType = (typeof causeTypes)[number];
export type ReportedOrgPolicy = Output<typeof orgPolicySchema>;
export type Tailoring = Output<typeof tailoringSchema>;
export type Comparison = Output<typeof comparisonSchema>;
export type ResolvedFinding = Output<typeof resolvedFindingSchema>;
export type Category = CheckResult["category"];
export type Engine = ScanSummary["engine"];
export type Role = ScanSummary["role"];
export type ScanStatus = ScanSummary["status"];
export type FindingChange = NonNullable<Finding["change"]>;
