import type { BuiltInApp, Evidence, JsonList } from "../artifacts.ts";
import { accessPolicyId } from "../../checks/parsing/access_policy.ts";
import { activityOf } from "../../checks/parsing/activity.ts";
import { keeping, mapEvidence, type Collector, type CollectorContext, evidenceOf } from "./collector.ts";

const scope = "apps.read";
// An app is three kilobytes and an org may have ten thousand.
export const appFields = ["id", "name", "label", "status", "_links.accessPolicy.href"] as const;
const keep = keeping(appFields);

export const collectApps: Collector<"apps"> = async ({ client }) => {
  return evidenceOf(await client.getList({ path: "/api/v1/apps?limit=200", scope, keep }));
};

export const collectAppPolicyRules: Collector<"app_policy_rules"> = async (context) => {
  const apps = await context.obtain("apps");
  return mapEvidence(apps, async (found) => {
    const active = found.filter((app) => activityOf(app) !== "inactive");
    const ids = new Set(active.map((app) => accessPolicyId(app)).filter((id) => typeof id === "string"));
    const rules = [...ids].map(async (id) => [id, await context.policyRules(id)] as const);
    return Object.fromEntries(await Promise.all(rules));
  });
};

export const collectAdminConsoleApp: Collector<"admin_console_app"> = (context) => builtInApp(context, "saasure");

export const collectDashboardApp: Collector<"dashboard_app"> = (context) => builtInApp(context, "okta_enduser");

export const collectAdminConsoleSettings: Collector<"admin_console_settings"> = async ({ client }) => {
  const settings = await client.getObject({ path: "/api/v1/first-party-app-settings/admin-console", scope });
  const evidence = evidenceOf(settings);
  // Every role below Super Administrator is refused here, so a 403 means a missing role whatever its error code.
  const isRefused = settings.refusal?.httpStatus === 403 && evidence.state === "missing";
  return isRefused && evidence.reason === "provider_error" ? { ...evidence, reason: "missing_role" } : evidence;
};

async function builtInApp(context: CollectorContext, name: string): Promise<Evidence<BuiltInApp>> {
  const apps = await appsNamed(context, name);
  return mapEvidence(apps, async (found) => {
    const app = found.find((candidate) => candidate["name"] === name) ?? null;
    const policyId = app === null ? null : accessPolicyId(app);
    return { app, rules: typeof policyId === "string" ? await context.policyRules(policyId) : null };
  });
}

/** From the whole list where it is fetched anyway. A partial list may lack the app, so then it is requested by name. */
async function appsNamed(context: CollectorContext, name: string): Promise<Evidence<JsonList>> {
  if (context.isRequested("apps")) {
    const all = await context.obtain("apps");
    if (all.state === "obtained") return all;
  }
  const filter = encodeURIComponent(`name eq "${name}"`);
  return evidenceOf(await context.client.getList({ path: `/api/v1/apps?filter=${filter}&limit=200`, scope, keep }));
}
