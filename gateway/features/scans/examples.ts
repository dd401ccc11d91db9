import { mapNotes } from "../../../shared/schemas/finding_notes.ts";

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
  fingerprint: "mfa-for-admins:00p1a2b3",
  check: "mfa-for-admins",
  status: "FAIL",
  reason: null,
  severity: "high",
  resource_type: "policy",
  resource_id: "00p1a2b3",
  resource_name: "Okta Admin Console",
  expected: "Every rule requires two factors",
  actual: "The rule “Catch-all” allows a password alone",
  detail: "The Admin Console can be opened with a password alone",
  automated: null,
  cause: "ac037fcf29ae",
  ...mapNotes(() => null),
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
