import { isHolding } from "../../shared/rule_result.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { readConnectedSettings } from "../../scanner/settings/read_settings.ts";
import { connect } from "../../scanner/okta/connection.ts";
import { createPracticeOrg, type PracticeOrg } from "../../practice_org/create_practice_org.ts";
import type { FaultName } from "../../practice_org/api/faults.ts";
import { runScan } from "../../scanner/run_scan.ts";
import type { CheckResult, ManualReason } from "../../shared/report.ts";
import type { ArtifactName } from "../../scanner/evidence/artifacts.ts";
import { compliantArtifacts } from "../support/artifact_builders.ts";
import { createFakeClock, type FakeClock } from "../support/fake_clock.ts";

/** The reason in a report for each fault. The verdict is never PASS or FAIL: an answer that was not obtained proves nothing. */
const reasons: Partial<Record<FaultName, ManualReason>> = {
  forbidden: "missing_role",
  "insufficient-scope": "missing_scope",
  "not-available": "not_available",
  "invalid-token": "provider_error",
  "not-found": "provider_error",
  "server-error": "provider_error",
  "rate-limit": "provider_error",
  html: "provider_error",
  "truncated-json": "provider_error",
};

/** Of lists only: an incomplete chain of pages. */
const listReasons: Partial<Record<FaultName, ManualReason>> = {
  "second-page-fails": "provider_error",
  "null-entry": "unreadable",
};

/** The checks that need one of these artifacts in a compliant org. */
function checksOf(...artifacts: readonly ArtifactName[]): readonly string[] {
  const needing = catalog.filter((check) =>
    [...check.artifacts, ...check.conditionalArtifacts(compliantArtifacts())].some((name) => artifacts.includes(name)),
  );
  return needing.map(({ name }) => name);
}

interface Endpoint {
  readonly path: string;
  /** The checks that need it in a compliant org; all others still pass. */
  readonly checks: readonly string[];
  readonly isList: boolean;
  /** Faults that have another meaning here. */
  readonly except?: readonly FaultName[];
}

const endpoints: readonly Endpoint[] = [
  { path: "/api/v1/policies$?type=OKTA_SIGN_ON", checks: checksOf("global_session_policies"), isList: true },
  { path: "/api/v1/policies$?type=PASSWORD", checks: checksOf("password_policies"), isList: true },
  { path: "/api/v1/policies$?type=USER_LIFECYCLE", checks: checksOf("user_lifecycle_policies"), isList: true },
  {
    path: "/api/v1/policies/*/rules",
    checks: checksOf(
      "global_session_policies",
      "user_lifecycle_policies",
      "admin_console_app",
      "dashboard_app",
      "app_policy_rules",
    ),
    isList: true,
  },
  { path: "/api/v1/apps", checks: checksOf("apps", "admin_console_app", "dashboard_app"), isList: true },
  {
    path: "/api/v1/first-party-app-settings/admin-console",
    checks: checksOf("admin_console_settings"),
    isList: false,
  },
  { path: "/api/v1/brands$", checks: checksOf("brand_sign_in_pages"), isList: true },
  {
    path: "/api/v1/brands/*/pages/sign-in/customized",
    checks: checksOf("brand_sign_in_pages"),
    isList: false,
    // 404 is how a brand without a customized page answers: then the default page decides.
    except: ["not-found"],
  },
  { path: "/api/v1/authenticators", checks: checksOf("authenticators"), isList: true },
  { path: "/api/v1/idps/credentials/keys/*", checks: checksOf("smart_card_idps"), isList: false },
  { path: "/api/v1/zones", checks: checksOf("network_zones"), isList: true },
  { path: "/api/v1/api-tokens", checks: checksOf("api_tokens"), isList: true },
  { path: "/api/v1/users/*/roles", checks: checksOf("api_token_owners"), isList: true },
  { path: "/api/v1/users/*/groups", checks: checksOf("api_token_owners"), isList: true },
  { path: "/api/v1/groups/*/roles", checks: checksOf("api_token_owners"), isList: true },
  { path: "/api/v1/logStreams", checks: checksOf("log_streams"), isList: true },
  { path: "/api/v1/idps$", checks: checksOf("smart_card_idps"), isList: true },
];

interface Stage {
  readonly org: PracticeOrg;
  /** The organization's and the scanner's, so that waiting before another try costs no time. */
  readonly clock: FakeClock;
}

let compliant: Stage;

beforeAll(async () => {
  compliant = await createStage("compliant");
});

afterAll(() => compliant.org.stop());

async function createStage(name: "compliant" | "typical"): Promise<Stage> {
  const clock = createFakeClock();
  return { clock, org: await createPracticeOrg({ profile: { name }, role: "super", clock: () => clock.nowMs() }) };
}

/** Results of a scan in which requests for `path` meet the fault. */
async function scanWith({ org, clock }: Stage, name: FaultName, path: string): Promise<readonly CheckResult[]> {
  org.setFaults([{ name, path }]);
  return scan({ org, clock });
}

async function scan({ org, clock }: Stage): Promise<readonly CheckResult[]> {
  const { url: IDP_ORG_URL, clientId, privateKeyPem } = org;
  const env = { IDP_ORG_URL, IDP_CLIENT_ID: clientId, IDP_PRIVATE_KEY: privateKeyPem };
  const config = readConnectedSettings({ command: "scan", flags: {}, env }).connection;
  const { signal } = new AbortController();
  const plan = { orgUrl: config.orgUrl, clientId, checks: catalog, orgPolicy: null, signal };
  const { results } = await runScan(plan, {
    connect: (connecting) => connect(config, { ...connecting, clock }),
    onResult: () => {},
    now: () => new Date(clock.nowMs()),
  });
  return results;
}

test("a compliant org passes every check without a fault", async () => {
  const results = await scanWith(compliant, "forbidden", "/api/v1/nowhere");
  expect(results.filter((result) => !isHolding(result)).map(({ check, detail }) => [check, detail])).toEqual([]);
});

describe("a proven FAIL stands beside an entry that is no object", () => {
  test.each([
    ["/api/v1/policies$?type=PASSWORD", checksOf("password_policies")],
    ["/api/v1/policies$?type=OKTA_SIGN_ON", checksOf("global_session_policies")],
    ["/api/v1/apps", checksOf("app_policy_rules")],
    ["/api/v1/api-tokens", checksOf("api_tokens")],
    ["/api/v1/users/*/roles", checksOf("api_token_owners")],
    ["/api/v1/zones", ["apitoken_restricted_to_network_zone"]],
  ])("%s", async (path, names) => {
    const lax = await createStage("typical");
    try {
      const whole = await statusesOf(lax, names);
      expect(Object.values(whole)).toContain("FAIL");
      lax.org.setFaults([{ name: "null-entry", path }]);
      const failing = Object.entries(whole).filter(([, status]) => status === "FAIL");
      expect(await statusesOf(lax, names)).toMatchObject(Object.fromEntries(failing));
    } finally {
      await lax.org.stop();
    }
  });

  async function statusesOf(stage: Stage, names: readonly string[]): Promise<Record<string, string>> {
    const named = (await scan(stage)).filter(({ check }) => names.includes(check));
    return Object.fromEntries(named.map(({ check, status }) => [check, status]));
  }
});

/** Every eighth pair, so that each endpoint meets one fault or two, and each fault an endpoint. `NIGHTLY=1`: all. */
const step = process.env["NIGHTLY"] === "1" ? 1 : 8;

describe.each(endpoints)("$path", ({ path, checks, isList, except = [] }) => {
  const faults = Object.entries({ ...reasons, ...(isList ? listReasons : {}) }) as [FaultName, ManualReason][];
  const first = endpoints.findIndex((endpoint) => endpoint.path === path);
  const due = faults.filter(([name], index) => (first + index) % step === 0 && !except.includes(name));

  test.each(due)("%s is %s", async (name, reason) => {
    expectManual(await scanWith(compliant, name, path), checks, reason);
  });
});

function expectManual(results: readonly CheckResult[], checks: readonly string[], reason: ManualReason): void {
  // V2: every selected check exactly once.
  expect(results.map(({ check }) => check)).toEqual(catalog.map((check) => check.name));
  // V1: the checks that need the endpoint are MANUAL with the reason; all others are still evaluated.
  const open = results.filter((result) => !isHolding(result));
  expect(open.map(({ check }) => check).toSorted()).toEqual([...checks].toSorted());
  for (const result of open) {
    expect([result.check, result.status, result.reason]).toEqual([result.check, "MANUAL", reason]);
    expect(result.findings.filter(({ status }) => status === "FAIL")).toEqual([]);
  }
}
