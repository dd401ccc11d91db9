/**
 * The custom admin role that docs/approval.md describes. Okta names these permissions in its permissions catalog. It names none for
 * authenticators, network zones, log streams, the System Log and the org's settings, and it does not say whether
 * `okta.users.apitokens.read` lists the org's tokens or `okta.policies.read` shows automations: the practice org refuses all of them.
 */
export const customRolePermissions: readonly {
  readonly permission: string;
  readonly resources: string;
  readonly paths: RegExp;
}[] = [
  { permission: "okta.apps.read", resources: "All apps", paths: /^\/api\/v1\/apps(?:\/|$)/ },
  { permission: "okta.policies.read", resources: "All policies", paths: /^\/api\/v1\/policies(?:\/|$)/ },
  { permission: "okta.customizations.read", resources: "All customizations", paths: /^\/api\/v1\/brands(?:\/|$)/ },
  {
    permission: "okta.identityProviders.read",
    resources: "All identity providers",
    paths: /^\/api\/v1\/idps(?:\/|$)/,
  },
  {
    permission: "okta.users.read",
    resources: "All users",
    paths: /^\/api\/v1\/users(?:\/[^/]+(?:\/groups)?)?$/,
  },
  { permission: "okta.groups.read", resources: "All groups", paths: /^\/api\/v1\/groups(?:\/[^/]+)?$/ },
  {
    permission: "okta.iam.read",
    resources: "All identity and access management resources",
    paths: /^\/(?:api\/v1\/iam\/.+|api\/v1\/(?:users|groups)\/[^/]+\/roles|oauth2\/v1\/clients\/[^/]+\/roles)$/,
  },
];

/** Whether the custom role may read `path`. First-party apps and their settings are kept from it, as from Read-Only. */
export function isReadableByCustomRole(path: string, query: URLSearchParams): boolean {
  if (query.get("type") === "USER_LIFECYCLE") return false;
  return customRolePermissions.some(({ paths }) => paths.test(path));
}
