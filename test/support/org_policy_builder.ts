/** A signed document of the organization without any entry. */
export const aDocument = {
  format: "scanstream.org_policy/1",
  org_url: "https://acme.okta.com",
  approved_by: "Jane Roe",
  approved_on: "2026-11-01",
  expires: "2027-11-01",
  reference: "AC policy for Okta, v3",
} as const;
