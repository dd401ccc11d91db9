import { paged } from "./call.ts";
import { notFound, providerError } from "./provider_errors.ts";
import type { Answer, Call } from "./call.ts";
import type { PolicyWithRules } from "../objects/org_contents.ts";

const policyTypes = new Set([
  "ACCESS_POLICY",
  "CLIENT_UPDATE",
  "DEVICE_SIGNAL_COLLECTION",
  "ENTITY_RISK",
  "IDENTITY_CLAIM_SOURCING",
  "IDP_DISCOVERY",
  "MFA_ENROLL",
  "OKTA_SIGN_ON",
  "PASSWORD",
  "POST_AUTH_SESSION",
  "PROFILE_ENROLLMENT",
  "SESSION_VIOLATION_DETECTION",
  "USER_LIFECYCLE",
]);

export function policies({ contents, query }: Call): Answer {
  const type = query.get("type");
  if (type === null || !policyTypes.has(type)) {
    const summary = "Api validation failed: type";
    return providerError("E0000001", { summary, causes: ["type: The policy type is missing or unknown"] });
  }
  const status = query.get("status");
  const found = contents.policies
    .map(({ policy }) => policy)
    .filter((policy) => policy.type === type && (status === null || policy.status === status));
  return paged(found, { defaultLimit: null, maxLimit: 200 });
}

/** The policy that the path names. */
export function ofPolicy({ contents, segments }: Call, answer: (found: PolicyWithRules) => Answer): Answer {
  const found = contents.policies.find(({ policy }) => policy.id === segments[0]);
  return found === undefined ? notFound(segments[0] ?? "", "Policy") : answer(found);
}
