import type * as v from "valibot";
import { changeSchema } from "../../shared/schemas/change.ts";
import { storedFindingSchema } from "../../shared/schemas/finding.ts";
import { monitorSchema, monitorUpdateSchema, newMonitorSchema } from "../../shared/schemas/monitor.ts";
import { organizationSchema } from "../../shared/schemas/organization.ts";
import { newScanSchema, scanSchema, scanUpdateSchema } from "../../shared/schemas/scan.ts";

/** Examples that the OpenAPI document shows: of one tenant, its organization, and what a scan and a monitor found there. */

const tenantId = "0b0e7a52-6f0c-4f65-9a52-0d3c1c0a9b11";
const scanId = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const monitorId = "3f0e2f1c-5b7a-4d0e-9a55-6f3b0a2c9d10";
const startedAt = "2026-11-22T09:30:00.000Z";
const changedAt = "2026-11-22T14:03:12.000Z";
const resource = { type: "policy", id: "00p1a2b3", name: "Okta Admin Console" };

/** The value of a field in every example that has it. */
const values: Readonly<Record<string, unknown>> = {
  tenant_id: tenantId,
  scan_id: scanId,
  monitor_id: monitorId,
  org_url: "https://acme.okta.com",
  client_id: "0oa1b2c3d4",
  benchmark: "okta-idaas-stig-v1r2",
  interval_seconds: 10,
  status: "running",
  checks_total: 29,
  checks_done: 12,
  pass: 9,
  fail: 2,
  manual: 1,
  not_applicable: 0,
  cancel_requested: false,
  log_status: "reading",
  last_look_at: changedAt,
  lag_seconds: 1.4,
  last_change_at: changedAt,
  created_at: startedAt,
  updated_at: changedAt,
  started_at: startedAt,
  check: "mfa-for-admins",
  fingerprint: `mfa-for-admins:${resource.id}`,
  severity: "high",
  resource_type: resource.type,
  resource_id: resource.id,
  resource_name: resource.name,
  expected: "Every rule requires two factors",
  actual: "The rule “Catch-all” allows a password alone",
  detail: "The Admin Console can be opened with a password alone",
  to_pass:
    'In rule "Catch-all" of the authentication policy of "Okta Admin Console": set "User must authenticate with" to a choice of two factor types',
  evaluation:
    '→ "Catch-all" (priority 99): ALLOW, for everybody who gets here; decides\nRead with GET /api/v1/policies/{id}/rules',
  read_from: "GET /api/v1/policies/{id}/rules at 2026-11-22T14:03:09.871Z",
  advisory: false,
};

/** The example of an object, by `own` values and those that all examples share. Other fields are null, or left out where they are optional. */
export function exampleOf(
  { entries }: { readonly entries: Readonly<Record<string, v.GenericSchema>> },
  own: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  const all = { ...values, ...own };
  const fields = Object.entries(entries).flatMap(([name, { type }]) =>
    name in all ? [[name, all[name]]] : type === "exact_optional" ? [] : [[name, null]],
  );
  return Object.fromEntries(fields);
}

export const scanExample = exampleOf(scanSchema, {
  id: scanId,
  channel: `scan:${tenantId}:${scanId}`,
  event_stream: `/api/v1/scans/${scanId}/event-stream`,
});
export const newScanExample = exampleOf(newScanSchema);
export const scanUpdateExample = exampleOf(scanUpdateSchema);
export const findingExample = exampleOf(storedFindingSchema, { status: "FAIL", cause: "ac037fcf29ae" });

export const monitorExample = exampleOf(monitorSchema, {
  id: monitorId,
  channel: `monitor:${tenantId}:${monitorId}`,
  event_stream: `/api/v1/monitors/${monitorId}/event-stream`,
});
export const newMonitorExample = exampleOf(newMonitorSchema);
export const monitorUpdateExample = exampleOf(monitorUpdateSchema);

export const changeExample = exampleOf(changeSchema, {
  schema: "scanstream.change/1",
  id: "9d6f1a52-4f5b-4c0b-8a0c-1d2e3f405162",
  resource,
  from: { status: "PASS", reason: null },
  to: { status: "FAIL", reason: null },
  from_waived: false,
  to_waived: false,
  rule: { status: "FAIL", reason: null, severity: "high" },
  seen_at: changedAt,
  created_at: changedAt,
  cause: "log",
  explained_by: [
    {
      uuid: "f2b6c7d8-ca51-11f0-9d3c-0b1f2a3c4d5e",
      event_type: "policy.rule.update",
      published: "2026-11-22T14:03:09.871Z",
      actor: { id: "00u1", type: "User", login: "admin@acme.example", name: "Ada Admin" },
      transaction_id: "Z1",
    },
  ],
  also: ["application.lifecycle.update Slack"],
});

export const organizationExample = {
  ...exampleOf(organizationSchema, {
    name: "acme.okta.com",
    unknown: 1,
    not_evaluated: 16,
    cat1_open: 1,
    cat2_open: 1,
    cat3_open: 0,
    last_scan_id: scanId,
    last_scan_at: startedAt,
    monitor_status: "running",
  }),
  id: "2f0f3d0e-4a5b-4d63-9f6c-0b7f1d3a9c55",
};

const opened = { not_before: "2026-11-20T08:00:00.000Z", known_at: "2026-11-20T08:00:10.000Z" };
const actor = { id: "00u1", login: "admin@acme.example", name: "Ada Admin" };
const verdict = { check: "application_admin_console_mfa_required", vuln_id: "V-273193" };
const exposure = {
  opened,
  closed: { not_before: "2026-11-20T09:00:00.000Z", known_at: "2026-11-20T09:00:10.000Z", actor },
  actor,
  cause: "log",
  least_seconds: 3590,
  most_seconds: 3610,
};
export const exposureExample = { ...verdict, ...exposure };
export const historyExample = {
  schema: "scanstream.history/1",
  from: "2026-11-20T00:00:00.000Z",
  to: "2026-11-21T00:00:00.000Z",
  organizations: [
    {
      id: organizationExample.id,
      org_url: values["org_url"],
      rules: [
        {
          ...verdict,
          intervals: [{ from: opened.not_before, to: opened.known_at, status: "PASS", reason: null }],
          exposures: [exposure],
          days: [{ day: "2026-11-20", status: "FAIL", known_seconds: 57_600 }],
        },
      ],
    },
  ],
  next_cursor: null,
};
