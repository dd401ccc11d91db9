import { findingEntries } from "../../../shared/schemas/finding.ts";

/** Texts that the OpenAPI document shows. */

const scanId = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const tenantId = "0b0e7a52-6f0c-4f65-9a52-0d3c1c0a9b11";
const startedAt = "2026-11-22T09:30:00.000Z";

export const scanExample = {
  id: scanId,
  tenant_id: tenantId,
  channel: `scan:${tenantId}:${scanId}`,
  event_stream: `/api/v1/scans/${scanId}/event-stream`,
  status: "running",
  org_url: "https://acme.okta.com",
  client_id: "0oa1b2c3d4",
  benchmark: "okta-idaas-stig-v1r2",
  checks_total: 29,
  checks_done: 12,
  pass: 9,
  fail: 2,
  manual: 1,
  not_applicable: 0,
  cancel_requested: false,
  created_at: startedAt,
  updated_at: "2026-11-22T09:30:07.412Z",
  started_at: startedAt,
  ended_at: null,
};
export const newScanExample = { org_url: scanExample.org_url, client_id: scanExample.client_id, checks_total: 29 };
export const findingExample = {
  ...Object.fromEntries(Object.keys(findingEntries).map((name) => [name, null])),
  fingerprint: "mfa-for-admins:00p1a2b3",
  check: "mfa-for-admins",
  status: "FAIL",
  severity: "high",
  resource_type: "policy",
  resource_id: "00p1a2b3",
  resource_name: "Okta Admin Console",
  expected: "Every rule requires two factors",
  actual: "The rule “Catch-all” allows a password alone",
  detail: "The Admin Console can be opened with a password alone",
  cause: "ac037fcf29ae",
  to_pass:
    'In rule "Catch-all" of the authentication policy of "Okta Admin Console": set "User must authenticate with" to a choice of two factor types',
  evaluation:
    '→ "Catch-all" (priority 99): ALLOW, for everybody who gets here; decides\nRead with GET /api/v1/policies/{id}/rules',
  read_from: "GET /api/v1/policies/{id}/rules at 2026-11-22T14:03:09.871Z",
  advisory: false,
};
export const scanUpdateExample = {
  status: "running",
  checks_done: 12,
  checks_total: 29,
  pass: 9,
  fail: 2,
  manual: 1,
  not_applicable: 0,
};

const monitorId = "3f0e2f1c-5b7a-4d0e-9a55-6f3b0a2c9d10";
const changedAt = "2026-11-22T14:03:12.000Z";

export const monitorExample = {
  id: monitorId,
  monitor_id: monitorId,
  tenant_id: tenantId,
  channel: `monitor:${tenantId}:${monitorId}`,
  event_stream: `/api/v1/monitors/${monitorId}/event-stream`,
  status: "running",
  org_url: "https://acme.okta.com",
  client_id: "0oa1b2c3d4",
  benchmark: "okta-idaas-stig-v1r2",
  interval_seconds: 10,
  checks_total: 29,
  pass: 24,
  fail: 3,
  manual: 1,
  not_applicable: 1,
  log_status: "reading",
  error_code: null,
  error_detail: null,
  last_look_at: "2026-11-22T14:03:12.412Z",
  lag_seconds: 1.4,
  last_change_at: changedAt,
  created_at: startedAt,
  updated_at: "2026-11-22T14:03:12.530Z",
  started_at: startedAt,
  ended_at: null,
};

export const newMonitorExample = { org_url: monitorExample.org_url, client_id: "0oa1b2c3d4", interval_seconds: 10 };

const changeExample = {
  schema: "scanstream.change/1",
  id: "9d6f1a52-4f5b-4c0b-8a0c-1d2e3f405162",
  check: "mfa-for-admins",
  fingerprint: "mfa-for-admins:00p1a2b3",
  resource: { type: "policy", id: "00p1a2b3", name: "Okta Admin Console" },
  from: { status: "PASS", reason: null },
  to: { status: "FAIL", reason: null },
  from_waived: false,
  to_waived: false,
  expected: "Every rule requires two factors",
  actual: "The rule “Catch-all” allows a password alone",
  to_pass: 'In rule "Catch-all": set "User must authenticate with" to a choice of two factor types',
  rule: { status: "FAIL", reason: null, severity: "high" },
  seen_at: changedAt,
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
};

export const storedChangeExample = { ...changeExample, created_at: changedAt };

export const monitorUpdateExample = {
  last_look_at: monitorExample.last_look_at,
  lag_seconds: 1.4,
  checks_total: 29,
  pass: 24,
  fail: 3,
  manual: 1,
  not_applicable: 1,
  log_status: "reading",
};
