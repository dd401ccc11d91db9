import type { Source } from "../whole_objects.ts";

const signon = "actions.signon";

/** What a new rule takes over from the built-in one. */
export const behavior: readonly Source[] = [
  { attribute: "access", path: `${signon}.access`, read: "text" },
  { attribute: "authtype", path: "conditions.authContext.authType", read: "text", ifAbsent: "ANY" },
  { attribute: "mfa_required", path: `${signon}.requireFactor`, read: "boolean" },
  { attribute: "mfa_prompt", path: `${signon}.factorPromptMode`, read: "text", ifAbsent: null },
  { attribute: "mfa_lifetime", path: `${signon}.factorLifetime`, read: "number", ifAbsent: null },
  {
    attribute: "mfa_remember_device",
    path: `${signon}.rememberDeviceByDefault`,
    read: "boolean",
    ifAbsent: false,
  },
  { attribute: "primary_factor", path: `${signon}.primaryFactor`, read: "text", ifAbsent: null },
  { attribute: "session_idle", path: `${signon}.session.maxSessionIdleMinutes`, read: "number", ifAbsent: 0 },
  { attribute: "session_lifetime", path: `${signon}.session.maxSessionLifetimeMinutes`, read: "number", ifAbsent: 0 },
  {
    attribute: "session_persistent",
    path: `${signon}.session.usePersistentCookie`,
    read: "boolean",
    ifAbsent: false,
  },
  { attribute: "network_connection", path: "conditions.network.connection", read: "text", ifAbsent: "ANYWHERE" },
  { attribute: "network_includes", path: "conditions.network.include", read: "texts", ifAbsent: null },
  { attribute: "network_excludes", path: "conditions.network.exclude", read: "texts", ifAbsent: null },
  {
    attribute: "identity_provider",
    path: "conditions.identityProvider.provider",
    read: "text",
    ifAbsent: "ANY",
  },
  {
    attribute: "identity_provider_ids",
    path: "conditions.identityProvider.idpIds",
    read: "texts",
    ifAbsent: null,
  },
];

/** What belongs to one rule alone. */
const ownFields: readonly Source[] = [
  { attribute: "name", path: "name", read: "text" },
  { attribute: "status", path: "status", read: "text", ifAbsent: "ACTIVE" },
  { attribute: "priority", path: "priority", read: "number" },
  { attribute: "users_excluded", path: "conditions.people.users.exclude", read: "texts", ifAbsent: null },
  { attribute: "behaviors", path: "conditions.risk.behaviors", read: "texts", ifAbsent: null },
  { attribute: "risk_level", path: "conditions.riskScore.level", read: "text", ifAbsent: null },
];

/** Where the provider has what Terraform writes of a rule of a global session policy. */
export const sessionRuleSources: readonly Source[] = [...ownFields, ...behavior];
