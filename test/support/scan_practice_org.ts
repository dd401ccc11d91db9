import { catalog } from "../../scanner/catalog/catalog.ts";
import { readConnectedSettings } from "../../scanner/settings/read_settings.ts";
import { connect } from "../../scanner/okta/connection.ts";
import { runScan, type FinishedScan } from "../../scanner/run_scan.ts";
import type { PracticeOrg } from "../../practice_org/create_practice_org.ts";

/** A whole scan of a practice org, with the default scopes. */
export async function scanPracticeOrg(org: PracticeOrg): Promise<FinishedScan> {
  const env = { IDP_ORG_URL: org.url, IDP_CLIENT_ID: org.clientId, IDP_PRIVATE_KEY: org.privateKeyPem };
  const config = readConnectedSettings({ command: "scan", flags: { timeout: "10" }, env }).connection;
  const { signal } = new AbortController();
  const { orgUrl, clientId } = config;
  return runScan(
    { orgUrl, clientId, checks: catalog, orgPolicy: null, signal },
    { connect: (options) => connect(config, options), onResult: () => {}, now: () => new Date() },
  );
}
