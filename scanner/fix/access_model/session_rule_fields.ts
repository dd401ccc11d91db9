import type { Source } from "../whole_objects.ts";

const signon = "actions.signon";

/** What a new rule takes over from the built-in one. */
export const behavior: readonly Source[] = [
  ["access", "text", `${signon}.access`],
  ["authtype", "text", "conditions.authContext.authType", "ANY"],
  ["mfa_required", "boolean", `${signon}.requireFactor`],
  ["mfa_prompt", "text", `${signon}.factorPromptMode`, null],
  ["mfa_lifetime", "number", `${signon}.factorLifetime`, null],
  ["mfa_remember_device", "boolean", `${signon}.rememberDeviceByDefault`, false],
  ["primary_factor", "text", `${signon}.primaryFactor`, null],
  ["session_idle", "number", `${signon}.session.maxSessionIdleMinutes`, 0],
  ["session_lifetime", "number", `${signon}.session.maxSessionLifetimeMinutes`, 0],
  ["session_persistent", "boolean", `${signon}.session.usePersistentCookie`, false],
  ["network_connection", "text", "conditions.network.connection", "ANYWHERE"],
  ["network_includes", "texts", "conditions.network.include", null],
  ["network_excludes", "texts", "conditions.network.exclude", null],
  ["identity_provider", "text", "conditions.identityProvider.provider", "ANY"],
  ["identity_provider_ids", "texts", "conditions.identityProvider.idpIds", null],
];

/** What belongs to one rule alone. */
const ownFields: readonly Source[] = [
  ["name", "text", "name"],
  ["status", "text", "status", "ACTIVE"],
  ["priority", "number", "priority"],
  ["users_excluded", "texts", "conditions.people.users.exclude", null],
  ["behaviors", "texts", "conditions.risk.behaviors", null],
  ["risk_level", "text", "conditions.riskScore.level", null],
];

/** Where the provider has what Terraform writes of a rule of a global session policy. */
export const sessionRuleSources: readonly Source[] = [...ownFields, ...behavior];
