import { expect, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { readScannerConfig } from "../../scanner/config.ts";
import { connect } from "../../scanner/okta/connection.ts";
import { createPracticeOrg } from "../../practice_org/create_practice_org.ts";
import { runScan } from "../../scanner/run_scan.ts";

test("a scan of the profile unclear is MANUAL with a reason where the API shows too little", async () => {
  const org = await createPracticeOrg({ profile: { name: "unclear" }, role: "super" });
  try {
    const env = { IDP_ORG_URL: org.url, IDP_CLIENT_ID: org.clientId, IDP_PRIVATE_KEY: org.privateKeyPem };
    const config = readScannerConfig({}, env);
    const { orgUrl, clientId } = config;
    const { results } = await runScan(
      { orgUrl, clientId, checks: catalog, approvedIssuers: null, signal: new AbortController().signal },
      { connect: (options) => connect(config, options), onResult: () => {}, now: () => new Date() },
    );
    const verdicts = new Map(results.map(({ check, status, reason }) => [check, reason ?? status]));
    expect(verdicts.get("authenticator_okta_verify_fips_compliant")).toBe("PASS");
    expect(verdicts.get("user_inactivity_automation_35d_enabled")).toBe("needs_review");
    expect(verdicts.get("idp_smart_card_dod_approved_ca")).toBe("provider_error");
    expect(verdicts.get("signon_dod_warning_banner_configured")).toBe("needs_review");
  } finally {
    await org.stop();
  }
});
