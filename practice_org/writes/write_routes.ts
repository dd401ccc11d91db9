import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import type { PracticeRequest } from "../http/messages.ts";
import { routesOf, scopesOf } from "../http/route_table.ts";
import * as objects from "./object_writes.ts";
import * as policies from "./policy_writes.ts";
import type { Write } from "./write_call.ts";

type Entry = readonly [scope: string, write: Write];

/** Writes of the Terraform provider that fix a finding, and no others: a plan of `fix` deletes nothing. */
const table: Readonly<Record<string, Entry>> = {
  "PUT /api/v1/policies/*": ["policies.manage", policies.putPolicy],
  "POST /api/v1/policies/*/lifecycle/*": ["policies.manage", policies.policyLifecycle],
  "POST /api/v1/policies/*/rules": ["policies.manage", policies.postRule],
  "PUT /api/v1/policies/*/rules/*": ["policies.manage", policies.putRule],
  "POST /api/v1/policies/*/rules/*/lifecycle/*": ["policies.manage", policies.ruleLifecycle],
  "POST /api/v1/zones": ["networkZones.manage", objects.postZone],
  "PUT /api/v1/zones/*": ["networkZones.manage", objects.putZone],
  "POST /api/v1/zones/*/lifecycle/*": ["networkZones.manage", objects.lifecycle("zones", "NetworkZone")],
  "PUT /api/v1/authenticators/*": ["authenticators.manage", objects.putAuthenticator],
  "POST /api/v1/logStreams": ["logStreams.manage", objects.postLogStream],
  "PUT /api/v1/logStreams/*": ["logStreams.manage", objects.putLogStream],
  "POST /api/v1/logStreams/*/lifecycle/*": ["logStreams.manage", objects.lifecycle("logStreams", "LogStream")],
  "PUT /api/v1/api-tokens/*": ["apiTokens.manage", objects.putApiToken],
  "PUT /api/v1/brands/*/pages/sign-in/customized": ["brands.manage", objects.putSignInPage],
};

/** The path of each begins with its method. */
export const writeRoutes = routesOf(table);

/** Without their prefix. */
export const manageScopes = scopesOf(writeRoutes);

/** Null: there is one, and it is not a JSON object. */
export function bodyOf({ body }: PracticeRequest): JsonObject | null {
  if (body === "") return {};
  try {
    const value: unknown = JSON.parse(body);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
