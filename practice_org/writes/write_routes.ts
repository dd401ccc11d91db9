import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { segmentsOf } from "../http/path_segments.ts";
import type { PracticeRequest } from "../http/messages.ts";
import * as objects from "./object_writes.ts";
import * as policies from "./policy_writes.ts";
import type { Write } from "./write_call.ts";

export interface WriteRoute {
  readonly method: string;
  /** Segments that vary are `*`. */
  readonly path: string;
  /** Without its prefix. */
  readonly scope: string;
  readonly write: Write;
}

/** Writes of the Terraform provider that fix a finding, and no others: a plan of `fix` deletes nothing. */
const writeRoutes: readonly WriteRoute[] = [
  ...routesOf("policies.manage", [
    ["PUT", "/api/v1/policies/*", policies.putPolicy],
    ["POST", "/api/v1/policies/*/lifecycle/*", policies.policyLifecycle],
    ["POST", "/api/v1/policies/*/rules", policies.postRule],
    ["PUT", "/api/v1/policies/*/rules/*", policies.putRule],
    ["POST", "/api/v1/policies/*/rules/*/lifecycle/*", policies.ruleLifecycle],
  ]),
  ...routesOf("networkZones.manage", [
    ["POST", "/api/v1/zones", objects.postZone],
    ["PUT", "/api/v1/zones/*", objects.putZone],
    ["POST", "/api/v1/zones/*/lifecycle/*", objects.lifecycle("zones", "NetworkZone")],
  ]),
  ...routesOf("authenticators.manage", [
    ["PUT", "/api/v1/authenticators/*", objects.putAuthenticator],
    ["POST", "/api/v1/authenticators/*/lifecycle/*", objects.lifecycle("authenticators", "Authenticator")],
  ]),
  ...routesOf("logStreams.manage", [
    ["POST", "/api/v1/logStreams", objects.postLogStream],
    ["PUT", "/api/v1/logStreams/*", objects.putLogStream],
    ["POST", "/api/v1/logStreams/*/lifecycle/*", objects.lifecycle("logStreams", "LogStream")],
  ]),
  ...routesOf("apiTokens.manage", [["PUT", "/api/v1/api-tokens/*", objects.putApiToken]]),
  ...routesOf("brands.manage", [["PUT", "/api/v1/brands/*/pages/sign-in/customized", objects.putSignInPage]]),
];

/** Without their prefix. */
export const manageScopes: readonly string[] = [...new Set(writeRoutes.map(({ scope }) => scope))];

export function findWriteRoute({
  method,
  path,
}: PracticeRequest): { readonly route: WriteRoute; readonly segments: readonly string[] } | null {
  const asked = path.split("/");
  for (const route of writeRoutes) {
    const segments = route.method === method ? segmentsOf(route.path, asked) : null;
    if (segments !== null) return { route, segments };
  }
  return null;
}

/** Null: there is one, and it is no JSON object. */
export function bodyOf({ body }: PracticeRequest): JsonObject | null {
  if (body === "") return {};
  try {
    const value: unknown = JSON.parse(body);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function routesOf(
  scope: string,
  entries: readonly (readonly [method: string, path: string, write: Write])[],
): readonly WriteRoute[] {
  return entries.map(([method, path, write]) => ({ method, path, scope, write }));
}
