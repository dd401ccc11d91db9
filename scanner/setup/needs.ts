import { systemClock } from "../okta/clock.ts";
import { logIn, probe, readOrganization } from "../okta/connection.ts";
import type { ConnectionSettings } from "../okta/connection_settings.ts";
import { assignedRoles, clockResult, organizationResult } from "../okta/examine.ts";
import type { HttpIdpClient } from "../okta/http_idp_client.ts";
import { attempt, IdpError, places, remedies, type IdpErrorCode } from "../okta/idp_error.ts";
import type { RequestSender } from "../okta/request_sender.ts";
import { defaultScopes as requiredScopes } from "../settings/values.ts";

/** Needs of a scan in an org, in the order in which a person makes it: the list of `setup`; `doctor` examines the same. */

/** Uses of the scopes, without prefix, that a scan does not need. */
const optionalScopes: Readonly<Record<string, string>> = {
  "logs.read": "follow",
  "orgs.read": "the setting of public client apps",
};

/** Clicks for a person, in this order, signed in as a Super Administrator. `needs`: names of the needs that they are about. */
export const consoleSteps = [
  {
    title: "Create the app",
    needs: /^app$/,
    clicks: [
      "In the Admin Console, open Applications → Applications.",
      "Create App Integration → API Services → Next.",
      'App integration name: scanstream. Save. Copy the "Client ID".',
    ],
  },
  {
    title: "Save the public key in this app",
    needs: /^key$/,
    clicks: [
      'General → Client Credentials → Edit → "Public key / Private key".',
      'Add key → paste the line above that begins with {"kty" → Done → Save.',
    ],
  },
  {
    title: "Grant the scopes to this app",
    needs: /^scope:/,
    clicks: [
      `Okta API Scopes → Grant: ${requiredScopes.map((scope) => `okta.${scope}`).join(", ")}.`,
      ...Object.entries(optionalScopes).map(([scope, use]) => `Optional: okta.${scope}, for ${use}.`),
    ],
  },
  {
    title: "Give this app a role that can only read",
    needs: /^role$/,
    clicks: ["Admin roles → Edit assignments → Read-Only Administrator → Save."],
  },
];

/** One thing that a scan needs, as the org shows it now. */
export interface NeedState {
  /** `organization`, `clock`, `app`, `key`, `scope:policies.read`, `role`, `dpop`, `system_log` or `public_client`. */
  readonly need: string;
  /** `open`: not there yet; `wrong`: there, and not as it should be. */
  readonly state: "done" | "open" | "wrong";
  /** Observation, and a remedy for what is not done; one sentence or two. */
  readonly text: string;
  /** False: a scan works without it. */
  readonly isRequired: boolean;
}

/** Examines the org and the app; null: there is no Client ID yet. */
export async function examineNeeds(
  settings: Omit<ConnectionSettings, "clientId">,
  clientId: string | null,
  sender: RequestSender,
): Promise<readonly NeedState[]> {
  const org = await attempt(readOrganization({ ...settings, sender }));
  if (org instanceof IdpError) return [need("organization", "wrong", `${org.message}. ${org.remedy}`)];
  const states = [organizationResult(org, settings.orgUrl), clockResult(org)].map(({ step, state, detail, remedy }) =>
    need(step, state === "ok" ? "done" : "wrong", remedy === null ? detail : `${detail}. ${remedy}`),
  );
  if (clientId === null) return [...states, need("app", "open", "No Client ID yet")];
  const config = { ...settings, clientId, scopes: [...requiredScopes, ...Object.keys(optionalScopes)] };
  const client = await attempt(logIn(config, { org, sender, clock: systemClock }));
  const isRefused = client instanceof IdpError;
  if (isRefused && client.code !== "no_scope") return [...states, ...refusedLogin(client, clientId)];
  states.push(foundApp(clientId), need("key", "done", "Public key: saved in the app, and active"));
  for (const scope of requiredScopes) {
    const isThere = !isRefused && client.isGranted(scope);
    const text = isThere ? `okta.${scope}` : `okta.${scope}: not granted to the app ${clientId}`;
    states.push(need(`scope:${scope}`, isThere ? "done" : "open", text));
  }
  if (isRefused) return [...states, need("role", "open", "The role cannot be seen before a scope is granted")];
  const refusal = await attempt(probe(client));
  if (refusal instanceof IdpError) {
    const isRole = refusal.code === "no_role";
    const text = isRole ? `The app ${clientId} has no admin role. ${remedies.role}` : refusal.message;
    states.push(need("role", "open", text));
  } else {
    const roles = await assignedRoles(clientId, client);
    states.push(need("role", "done", roleText(roles)), await logState(client), await publicClientState(client));
  }
  const { type } = await client.login.current();
  const dpop =
    type === "DPoP"
      ? optional("dpop", "done", "DPoP: on, tokens are bound to this program")
      : optional("dpop", "open", `DPoP is off: a copied token works anywhere. ${remedies.dpop}`);
  return [...states, dpop];
}

/** Needs that a refused login shows to be wrong; other errors are about the app. */
const needsOfErrors: Partial<Record<IdpErrorCode, string>> = {
  clock_skew: "clock",
  dpop_refused: "dpop",
  wrong_org: "organization",
  unreachable: "organization",
  tls_failed: "organization",
};

/** States after a refused login: the step at which it ended shows how much is right. */
function refusedLogin({ code, message, remedy }: IdpError, clientId: string): readonly NeedState[] {
  if (code === "wrong_client") {
    const text = `This org has no active API Services app with the Client ID ${clientId}. Copy it from the app's page`;
    return [need("app", "wrong", text)];
  }
  if (code === "bad_key") {
    const text = `The app ${clientId} does not accept the key. Paste the line above into this app, not another one, save, and see that the key is Active`;
    return [foundApp(clientId), need("key", "open", text)];
  }
  const refused = need(needsOfErrors[code] ?? "app", "wrong", `${message}. ${remedy}`);
  return code === "dpop_refused" ? [foundApp(clientId), refused] : [refused];
}

function foundApp(clientId: string): NeedState {
  return need("app", "done", `App ${clientId}: found`);
}

function roleText(roles: readonly string[]): string {
  const text = `Role: ${roles.length === 0 ? "assigned" : roles.join(", ")}`;
  return roles.includes("SUPER_ADMIN") ? `${text}. Read-Only Administrator is enough for routine scans` : text;
}

async function logState(client: HttpIdpClient): Promise<NeedState> {
  if (!client.isGranted("logs.read")) return cannotBeSeen("system_log", "The System Log", "logs.read");
  const answer = await client.getPage({ path: "/api/v1/logs?limit=1", scope: "logs.read" });
  return answer.state === "obtained"
    ? optional("system_log", "done", "System Log: readable")
    : optional("system_log", "wrong", `System Log: ${answer.detail}`);
}

/** Reads the setting by which Okta itself gives every new service app the role Super Administrator. */
async function publicClientState(client: HttpIdpClient): Promise<NeedState> {
  const name = "The setting of public client apps";
  if (!client.isGranted("orgs.read")) return cannotBeSeen("public_client", name, "orgs.read");
  const answer = await client.getObject({ path: "/api/v1/org/settings/clientPrivilegesSetting", scope: "orgs.read" });
  if (answer.state === "missing") return optional("public_client", "open", `${name}: ${answer.detail}`);
  if (answer.value["clientPrivilegesSetting"] !== true)
    return optional("public_client", "done", "Public client app admins: off");
  const text = `Public client app admins is on: new apps get Super Administrator by themselves. Turn off ${places.publicClientAdmins}`;
  return optional("public_client", "wrong", text);
}

function cannotBeSeen(name: string, what: string, scope: string): NeedState {
  return optional(name, "open", `${what} cannot be seen without okta.${scope} (optional)`);
}

function need(name: string, state: NeedState["state"], text: string): NeedState {
  return { need: name, state, text, isRequired: true };
}

function optional(name: string, state: NeedState["state"], text: string): NeedState {
  return { ...need(name, state, text), isRequired: false };
}
