import type { JsonObject } from "../../../shared/json.ts";
import { missing, type BuiltInApp, type Evidence, type JsonList } from "../artifacts.ts";
import { accessPolicyId } from "../../checks/parsing/access_policy.ts";
import { activityOf } from "../../checks/parsing/activity.ts";
import { artifactTable } from "../artifact_table.ts";
import { mapEvidence, type CollectorContext, type Collectors, evidenceOf } from "./collector.ts";

export const appCollectors = {
  apps: async (context) => {
    // Asked for while the pages after it still come, so that the last page is not followed by all of them.
    const requestRules = (app: JsonObject) => {
      const policyId = policyOfActive(app);
      if (policyId !== null) context.policyRules(policyId).catch(() => undefined);
    };
    const onEntry = context.isRequested("app_policy_rules") ? requestRules : undefined;
    return evidenceOf(await context.client.getList({ ...artifactTable.apps.request, onEntry }));
  },

  app_policy_rules: async ({ obtain, policyRules }) =>
    mapEvidence(await obtain("apps"), async (found) => {
      const ids = new Set(found.map((app) => policyOfActive(app)).filter((id) => id !== null));
      const rules = [...ids].map(async (id) => [id, await policyRules(id)] as const);
      return Object.fromEntries(await Promise.all(rules));
    }),

  admin_console_app: (context) => builtInApp(context, "admin_console_app"),
  dashboard_app: (context) => builtInApp(context, "dashboard_app"),

  admin_console_settings: async ({ client }) => {
    const settings = await client.getObject(artifactTable.admin_console_settings.request);
    const evidence = await evidenceOf(settings);
    // Every role below Super Administrator is refused here, so a 403 means a missing role regardless of its error code.
    const isRefused = settings.refusal?.httpStatus === 403 && evidence.state === "missing";
    return isRefused && evidence.reason === "provider_error" ? { ...evidence, reason: "missing_role" } : evidence;
  },
} satisfies Collectors;

/** Null where the app is inactive, or names no policy that can be read. */
function policyOfActive(app: JsonObject): string | null {
  if (activityOf(app) === "inactive") return null;
  const id = accessPolicyId(app);
  return typeof id === "string" ? id : null;
}

const appNames = { admin_console_app: "saasure", dashboard_app: "okta_enduser" } as const;

async function builtInApp(context: CollectorContext, artifact: keyof typeof appNames): Promise<Evidence<BuiltInApp>> {
  const isNamed = (app: JsonObject) => app["name"] === appNames[artifact];
  const apps = await listApps(context, artifact);
  const unnamed = apps.state === "obtained" && apps.value.some((app) => typeof app["name"] !== "string");
  if (unnamed && !apps.value.some(isNamed)) {
    return missing("unreadable", `GET /api/v1/apps holds an app without a name, which may be ${appNames[artifact]}.`);
  }
  return mapEvidence(apps, async (found) => {
    const app = found.find(isNamed) ?? null;
    const policyId = app === null ? null : accessPolicyId(app);
    return { app, rules: typeof policyId === "string" ? await context.policyRules(policyId) : null };
  });
}

/** From the whole list where it is fetched anyway. A partial list may lack the app, so then it is requested by name. */
async function listApps(context: CollectorContext, artifact: keyof typeof appNames): Promise<Evidence<JsonList>> {
  if (context.isRequested("apps")) {
    const all = await context.obtain("apps");
    if (all.state === "obtained") return all;
  }
  return evidenceOf(await context.client.getList(artifactTable[artifact].request));
}
