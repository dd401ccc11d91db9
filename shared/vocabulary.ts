/**
 * Why a verdict could not be given. Reasons that a person can repair come first, and the first one that a finding has is the
 * rule's.
 */
export const manualReasons = [
  "missing_scope",
  "missing_role",
  "not_available",
  "provider_error",
  "unreadable",
  "interrupted",
  "needs_review",
  "rule_changed",
  "not_automated",
  "partly_automated",
  "not_applicable",
] as const;

/** The kinds of objects whose change can close a finding. */
export const causeTypes = ["policy_rule", "policy", "zone", "app", "authenticator", "api_token", "brand"] as const;
export type CauseType = (typeof causeTypes)[number];
