const at = (collection: string) => (id: string) => `api/v1/${collection}/${encodeURIComponent(id)}`;

export const decisionsPath = "api/v1/decisions";
export const toDecisionPath = at("decisions");
export const toScanPath = at("scans");
export const toMonitorPath = at("monitors");
export const toOrganizationPath = at("organizations");
