import type { JsonObject } from "../../shared/json.ts";
import { accessPolicyId } from "../checks/parsing/access_policy.ts";
import { activityOf } from "../checks/parsing/activity.ts";
import { nameOf, sortTexts } from "../checks/parsing/names.ts";
import { availableValue, entriesOf, type CollectedArtifacts } from "../evidence/artifacts.ts";

/** The active apps of an authentication policy by name, as far as this run saw them. */
export function appsOfPolicy(artifacts: CollectedArtifacts, policyId: string): readonly string[] {
  const apps = [...entriesOf(artifacts.apps), ...builtInApps(artifacts)].filter(
    (app) => accessPolicyId(app) === policyId && activityOf(app) !== "inactive",
  );
  return sortTexts([...new Set(apps.map((app) => `"${nameOf(app)}"`))]);
}

function builtInApps({
  admin_console_app: console,
  dashboard_app: dashboard,
}: CollectedArtifacts): readonly JsonObject[] {
  return [console, dashboard].flatMap((evidence) => {
    const app = evidence === undefined ? null : (availableValue(evidence)?.app ?? null);
    return app === null ? [] : [app];
  });
}

/** Returns whether this run saw every app of the org: each org has both of Okta's own. */
export function areAllAppsSeen({ apps }: CollectedArtifacts): boolean {
  if (apps?.state !== "obtained") return false;
  const names = new Set(apps.value.map((app) => app["name"]));
  return names.has("saasure") && names.has("okta_enduser");
}
