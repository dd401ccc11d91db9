import * as v from "valibot";
import { causeTypes } from "../vocabulary.ts";
import { automatedSchema, manualReasonSchema, severitySchema, statusSchema } from "./finding.ts";
import { mapNotes } from "./finding_notes.ts";
import { count, object, uuid, type Output } from "./primitives.ts";
import { attestationSchema, planSchema, waiverSchema } from "./report_decisions.ts";

export type { Attestation, Milestone, Plan, Waiver } from "./report_decisions.ts";
import { statusCountsEntries } from "./scan.ts";

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

const resourceSchema = object({
  type: v.pipe(v.string(), v.description("What kind of thing was examined: policy, app, api_token, org, …")),
  id: v.string(),
  name: v.string(),
});

/** A rule that was judged by the organization's values (its document, --org-policy), not by the STIG's. */
const tailoringSchema = object({
  effect: v.pipe(
    v.picklist(["stricter", "looser"]),
    v.description("looser: any value is; then no checklist calls the rule not a finding"),
  ),
  parameters: v.array(
    object({
      name: v.string(),
      unit: v.string(),
      value: v.union([v.number(), v.array(v.string())]),
      stig_value: v.union([v.number(), v.array(v.string())]),
      effect: v.picklist(["stricter", "looser"]),
    }),
  ),
  stig_status: v.pipe(statusSchema, v.description("The verdict by the STIG's own values")),
  stig_reason: v.nullable(manualReasonSchema),
});

export const findingSchema = v.pipe(
  object({
    status: statusSchema,
    stig_status: v.pipe(
      v.optional(statusSchema),
      v.description("The verdict on the same resource by the STIG's own values, where the organization has its own"),
    ),
    reason,
    resource: resourceSchema,
    expected: v.string(),
    actual: v.string(),
    detail: v.pipe(
      someText,
      v.description("One sentence that names the resource, what was expected and what was found"),
    ),
    fingerprint: v.pipe(
      someText,
      v.description("Stable over runs: the same check, resource and org give the same value"),
    ),
    waived: v.boolean(),
    waiver: v.pipe(
      v.optional(v.nullable(waiverSchema), null),
      v.description("The waiver in force; null when waived is false"),
    ),
    change: v.pipe(
      v.nullable(v.picklist(["new", "unchanged", "resolved"])),
      v.description("Against a baseline report; null without one"),
    ),
    automated: v.optional(automatedSchema, null),
    advisory: v.pipe(
      v.optional(v.boolean(), false),
      v.description("true: it changes neither the check's status nor the exit code"),
    ),
    cause: v.pipe(
      v.optional(v.nullable(v.string()), null),
      v.description("The id of the object whose change makes it pass, with FAIL; null: it has none (since 1.2)"),
    ),
    ...mapNotes((_, { description, since }) =>
      v.exactOptional(v.pipe(v.string(), v.description(`${description} (since ${since})`))),
    ),
    plan: v.exactOptional(v.pipe(planSchema, v.description("Absent without one (since 1.1)"))),
    detected_first: v.exactOptional(
      v.pipe(
        isoTime,
        v.description("End of the first scan that had it, as far as the baselines tell; absent: this one (since 1.1)"),
      ),
    ),
  }),
  v.metadata(reasonRule),
);

const checkSchema = v.pipe(
  object({
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
    automated: v.pipe(
      v.optional(v.nullable(v.literal("PASS")), null),
      v.description("PASS, with MANUAL: each of its findings that needs a person passed as far as it is automated"),
    ),
    attestation: v.optional(v.nullable(attestationSchema), null),
    tailoring: v.pipe(v.optional(tailoringSchema), v.description("Absent: judged by the STIG's values")),
    carried: v.pipe(
      v.optional(object({ from: v.string(), review: v.boolean() })),
      v.description(
        "A person answered the rule in a checklist (--checklist) of this other revision; review: its text is another one here",
      ),
    ),
    findings: v.array(findingSchema),
  }),
  v.metadata(reasonRule),
);

const scanSummarySchema = object({
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
  requests: object({
    total: count,
    retried: count,
    throttled_ms: v.pipe(count, v.description("Time spent waiting for the provider's rate limit, in milliseconds")),
  }),
});

/** A finding that the baseline had and this scan, which evaluated the check, no longer has. */
const resolvedFindingSchema = object({ check: v.string(), resource: resourceSchema, fingerprint: v.string() });

/** How the findings compare with an earlier report. */
const comparisonSchema = object({
  scan_id: v.string(),
  new: count,
  unchanged: count,
  resolved: count,
  gone: v.pipe(
    v.array(resolvedFindingSchema),
    v.description("The resolved ones whose resource is gone, so that no finding of this report can carry the mark"),
  ),
});

/** The smallest object whose change closes failing findings that nobody waived. */
const causeSchema = object({
  id: v.pipe(v.string(), v.regex(/^[0-9a-f]{12}$/), v.description("The same for the same object in every scan")),
  object: object({
    type: v.picklist(causeTypes),
    id: v.string(),
    name: v.string(),
  }),
  checks: v.pipe(v.array(v.string()), v.description("The checks whose findings it closes")),
  closes: v.pipe(v.array(v.string()), v.description("The checks that it closes alone, with no other change")),
  findings: count,
  fingerprints: v.pipe(v.array(v.string()), v.description("Of these findings")),
  change: v.pipe(someText, v.description("What to change, in one sentence")),
});

/** A control of NIST SP 800-53 rev. 5, as far as the rules of the STIG examine it. */
const controlSchema = object({
  id: v.pipe(v.string(), v.description("As in OSCAL: ac-2.3")),
  label: v.pipe(v.string(), v.description("As people write it: AC-2(3)")),
  title: v.string(),
  baselines: v.pipe(
    v.array(v.picklist(["low", "moderate", "high"])),
    v.description("Those of SP 800-53B that select it"),
  ),
  status: v.pipe(
    statusSchema,
    v.description(
      "FAIL if a rule that names it fails; PASS if every such rule of the STIG was examined and is met or does not apply, at least one met; else MANUAL",
    ),
  ),
  reason: v.exactOptional(
    v.pipe(v.literal("not_applicable"), v.description("With MANUAL: no rule that names it applies (since 1.2)")),
  ),
  checks: v.pipe(v.array(v.string()), v.description("The checks of this report whose rules name it")),
});

const statusCountsSchema = object(statusCountsEntries);

const summarySchema = object({
  ...statusCountsEntries,
  not_applicable: v.pipe(
    v.optional(count, 0),
    v.description("Rules that do not apply to the organization (since 1.2; before that they were in manual)"),
  ),
  attested: v.pipe(
    v.optional(count, 0),
    v.description("How many of the rules a person attested; each counts as what it was attested to (since 1.2)"),
  ),
  automated: v.pipe(v.optional(count, 0), v.description("How many of `manual` passed as far as they are automated")),
  waived: v.pipe(v.optional(count, 0), v.description("How many of `fail` are waived in everything that fails")),
});

/** The organization's own document, with which the org was compared. */
const orgPolicySchema = object({
  reference: someText,
  approved_by: someText,
  approved_on: v.string(),
  expires: v.string(),
  standing: v.pipe(
    v.picklist(["in_force", "expired", "not_in_force_yet"]),
    v.description("Only a document in force decides anything"),
  ),
  sha256: v.pipe(v.string(), v.description("Of the document as compact JSON")),
});

/** A gateway keeps no larger one, compressed. */
export const maxStoredReportBytes = 8 * 1_048_576;

export const reportSchema = object({
  schema: v.literal("scanstream.report/1"),
  org_policy: v.exactOptional(v.pipe(orgPolicySchema, v.description("Absent: none was given"))),
  benchmark: v.pipe(v.optional(v.string()), v.description("By which it was judged: `okta-idaas-stig-v1r2`")),
  evidence_sha256: v.exactOptional(
    v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/), v.description("Of the file of evidence that was judged")),
  ),
  scan: scanSummarySchema,
  summary: v.pipe(
    summarySchema,
    v.description(
      "Counts of rules: pass, fail, manual and not_applicable add up to all; automated, attested and waived are parts of them",
    ),
  ),
  checks: v.array(checkSchema),
  baseline: v.pipe(v.optional(v.nullable(comparisonSchema), null), v.description("Null without a baseline")),
  causes: v.pipe(
    v.optional(v.array(causeSchema), []),
    v.description("What to change, first what closes most rules alone (since 1.2)"),
  ),
  controls: v.exactOptional(
    v.pipe(v.array(controlSchema), v.description("The same verdicts by control of NIST SP 800-53 rev. 5 (since 1.1)")),
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
export type StatusCounts = Output<typeof statusCountsSchema>;
export type CheckResult = Output<typeof checkSchema>;
export type Finding = Output<typeof findingSchema>;
export type FindingResource = Output<typeof resourceSchema>;
export type ControlResult = Output<typeof controlSchema>;
export type Cause = Output<typeof causeSchema>;
export type ReportedOrgPolicy = Output<typeof orgPolicySchema>;
export type Tailoring = Output<typeof tailoringSchema>;
export type Comparison = Output<typeof comparisonSchema>;
export type ResolvedFinding = Output<typeof resolvedFindingSchema>;
export type Category = CheckResult["category"];
export type Engine = ScanSummary["engine"];
export type Role = ScanSummary["role"];
export type ScanStatus = ScanSummary["status"];
export type FindingChange = NonNullable<Finding["change"]>;
