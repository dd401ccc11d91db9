/**
 * The custom admin role that docs/approval.md describes. Okta names these permissions in its permissions catalog. It names none for
 * authenticators, network zones, log streams, the System Log and the org's settings, and it does not say whether
 * `okta.users.apitokens.read` lists the org's tokens or `okta.policies.read` shows automations: the practice org refuses all of them.
 */
const readablePaths: readonly RegExp[] = [
  // okta.apps.read, okta.policies.read, okta.customizations.read, okta.identityProviders.read
  /^\/api\/v1\/(?:apps|policies|brands|idps)(?:\/|$)/,
  // okta.users.read
  /^\/api\/v1\/users(?:\/[^/]+(?:\/groups)?)?$/,
  // okta.groups.read
  /^\/api\/v1\/groups(?:\/[^/]+)?$/,
  // okta.iam.read
  /^\/(?:api\/v1\/iam\/.+|api\/v1\/(?:users|groups)\/[^/]+\/roles|oauth2\/v1\/clients\/[^/]+\/roles)$/,
];

/** Whether the custom role may read `path`. First-party apps and their settings are kept from it, as from Read-Only. */
export function isReadableByCustomRole(path: string, query: URLSearchParams): boolean {
  if (query.get("type") === "USER_LIFECYCLE") return false;
  return readablePaths.some((pattern) => pattern.test(path));
}
