import { catalog } from "../../scanner/catalog/catalog.ts";
import { readConnectedSettings } from "../../scanner/settings/read_settings.ts";
import type { Clock } from "../../scanner/okta/clock.ts";
import { connect } from "../../scanner/okta/connection.ts";
import type { Fetch } from "../../scanner/okta/http_transport.ts";
import { runScan, type FinishedScan } from "../../scanner/run_scan.ts";

export interface ScannedOrg {
  readonly url: string;
  readonly clientId: string;
  readonly privateKeyPem: string;
}

/**
 * A whole scan with the default settings, as the command makes it: of a practice org, or of whatever `fetch` answers. Rejects with
 * `IdpError` where the command would exit with 3.
 */
export async function scanPracticeOrg(
  { url, clientId, privateKeyPem }: ScannedOrg,
  by: { readonly clock?: Clock; readonly fetch?: Fetch } = {},
): Promise<FinishedScan> {
  const env = { IDP_ORG_URL: url, IDP_CLIENT_ID: clientId, IDP_PRIVATE_KEY: privateKeyPem };
  const config = readConnectedSettings({ command: "scan", flags: {}, env }).connection;
  const { signal } = new AbortController();
  return runScan(
    { orgUrl: config.orgUrl, clientId, checks: catalog, orgPolicy: null, signal },
    {
      connect: (options) => connect(config, { ...options, ...by }),
      onResult: () => {},
      now: () => new Date(by.clock?.nowMs() ?? Date.now()),
    },
  );
}
