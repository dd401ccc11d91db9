/** What is sent and answered in the description of the API; a test sends what is sent, and checks both. */

const scanId = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const tenantId = "0b0e7a52-6f0c-4f65-9a52-0d3c1c0a9b11";
const channel = `scan:${tenantId}:${scanId}`;
const startedAt = "2026-11-22T09:30:00.000Z";

const finding = {
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
  coverage: "full",
  coverage_reason: null,
  advisory: false,
};

const scan = {
  id: scanId,
  tenant_id: tenantId,
  channel,
  event_stream: `/api/v1/scans/${scanId}/event-stream`,
  status: "running",
  org_url: "https://acme.okta.com",
  client_id: "0oa1b2c3d4",
  checks_total: 29,
  checks_done: 12,
  pass: 9,
  fail: 2,
  manual: 1,
  cancel_requested: false,
  created_at: startedAt,
  updated_at: "2026-11-22T09:30:07.412Z",
  started_at: startedAt,
  ended_at: null,
};

export const requestExamples = {
  newScan: { org_url: scan.org_url, client_id: scan.client_id, checks_total: 29 },
  scanUpdate: { status: "running", checks_done: 12, checks_total: 29, pass: 9, fail: 2, manual: 1 },
  newFindings: { findings: [finding] },
  streamTokenRequest: { scan_id: scanId },
  newEvent: { type: "scan.error", data: { scan_id: scanId, code: "missing_scope", detail: "okta.logs.read" } },
  newEvents: {
    events: [
      { type: "scan.start", data: { scan_id: scanId, checks_total: 29 }, delivery_id: "ci-4711.1" },
      { type: "scan.error", data: { scan_id: scanId, code: "rate_limit", detail: "" }, delivery_id: "ci-4711.2" },
    ],
  },
} as const;

export const responseExamples = {
  Scan: scan,
  ScanPage: { items: [scan], next_cursor: null },
  FindingPage: { items: [{ ...finding, created_at: startedAt }], next_cursor: null },
  StoredFindings: { received: 1, created: 1, updated: 0 },
  StreamToken: { access_token: "eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl", expires_in: 60 },
  TakenEvents: { channel, type: "scan.error" },
  Health: { status: "ok" },
  Ready: { status: "ready", checks: { database: "ok", broker: "ok", draining: false } },
} as const;
