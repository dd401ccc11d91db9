import { appId, appObject, directoryApp, serviceApp, webApp } from "../objects/app_objects.ts";
import { policyId } from "../objects/policy_objects.ts";
import type { App, Site } from "../objects/org_contents.ts";

/** Names of policies that the apps share. */
export const highAssurance = "High assurance";
export const passwordThenEmail = "Password then e-mail";

export const activeDirectoryFeatures = ["PROFILE_MASTERING", "OUTBOUND_DEL_AUTH", "IMPORT_NEW_USERS"];

/** Apps that share a few policies, one that is switched off, and three that nobody signs in to. */
export function businessApps(site: Site, orgId: string): readonly App[] {
  const strong = ["Finance", "Payroll", "Source code", "Secrets vault"];
  const usual = [
    "Wiki",
    "Chat",
    "Calendar",
    "Help desk",
    "Design",
    "Surveys",
    "Video",
    "Whiteboard",
    "Travel",
    "Learning",
    "Recruiting",
    "Newsletter",
    "Status page",
  ];
  const app = (label: string, policyName: string, name: string, signOnMode: string): App =>
    appObject(site, { name, label, signOnMode, policyId: policyId("ACCESS_POLICY", policyName), orgId });
  return [
    ...strong.map((label) =>
      app(label, highAssurance, `practice_${label.toLowerCase().replace(" ", "_")}_1`, "SAML_2_0"),
    ),
    ...usual.map((label) => webApp(site, { label, policy: "Any two factors", orgId })),
    app("Cafeteria menu", passwordThenEmail, "bookmark", "BOOKMARK"),
    app("Parking", passwordThenEmail, "template_swa", "BROWSER_PLUGIN"),
    appObject(site, {
      name: "oidc_client",
      label: "Retired intranet",
      status: "INACTIVE",
      signOnMode: "OPENID_CONNECT",
      policyId: policyId("ACCESS_POLICY", "Any two factors"),
      orgId,
    }),
    directoryApp(site, {
      name: "active_directory",
      label: "practice.example",
      features: activeDirectoryFeatures,
      policy: "Any two factors",
      orgId,
    }),
    directoryApp(site, {
      name: "csv_directory_v2",
      label: "Contractors' list",
      features: ["PROFILE_MASTERING", "IMPORT_NEW_USERS"],
      policy: "Any two factors",
      orgId,
    }),
    serviceApp(site, { label: "Nightly export", clientId: appId("Nightly export"), orgId, policyId: null }),
  ];
}
