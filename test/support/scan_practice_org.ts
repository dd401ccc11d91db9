import type { PracticeOrg } from "../../practice_org/create_practice_org.ts";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { memoize } from "../../scanner/checks/evaluating/memoize.ts";
import { readConnectedSettings } from "../../scanner/settings/read_settings.ts";
import type { Clock } from "../../scanner/okta/clock.ts";
import { connect } from "../../scanner/okta/connection.ts";
import type { Fetch } from "../../scanner/okta/http_transport.ts";
import { runScan, type FinishedScan } from "../../scanner/run_scan.ts";

/**
 * A whole scan with the default settings, as the command makes it: of a practice org, or of whatever `fetch` answers. Rejects with
 * `IdpError` where the command would exit with 3.
 */
export async function scanPracticeOrg(
  { url, clientId, privateKeyPem }: Pick<PracticeOrg, "url" | "clientId" | "privateKeyPem">,
  by: { readonly clock?: Clock; readonly fetch?: Fetch } = {},
): Promise<FinishedScan> {
  const env = { IDP_ORG_URL: url, IDP_CLIENT_ID: clientId, IDP_PRIVATE_KEY: privateKeyPem };
  const config = settingsOf(JSON.stringify(env));
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

/** The same client scans thousands of organizations, and reading a key tries it. */
const settingsOf = memoize((env: string) => {
  return readConnectedSettings({ command: "scan", flags: {}, env: JSON.parse(env) }).connection;
});
