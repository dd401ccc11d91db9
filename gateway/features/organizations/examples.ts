/** Texts that the OpenAPI document shows. */

export const organizationExample = {
  id: "2f0f3d0e-4a5b-4d63-9f6c-0b7f1d3a9c55",
  org_url: "https://acme.okta.com",
  name: "acme.okta.com",
  pass: 21,
  fail: 4,
  manual: 2,
  not_applicable: 1,
  unknown: 1,
  not_evaluated: 0,
  cat1_open: 1,
  cat2_open: 3,
  cat3_open: 0,
  last_scan_id: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
  last_scan_at: "2026-11-22T09:30:00.000Z",
  monitor_id: null,
  monitor_status: null,
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
      org_url: organizationExample.org_url,
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
