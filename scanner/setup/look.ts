import { systemClock } from "../okta/clock.ts";
import { createRequestSender } from "../okta/connection.ts";
import type { ConnectionSettings } from "../okta/connection_settings.ts";
import { places, remedies } from "../okta/console_places.ts";
import { assignedRoles, examineLogin, examineOrganization, type StepResult } from "../okta/examine.ts";
import type { HttpIdpClient } from "../okta/http_idp_client.ts";
import { attempt, IdpError, type IdpErrorCode } from "../okta/idp_error.ts";
import { Login } from "../okta/login.ts";
import { optionalScopes, requiredScopes } from "./needs.ts";

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

/** Examines an org as often as it is asked, with few token requests: scopes that are missing are asked for in turns. */
export interface Lookout {
  look(clientId: string | null): Promise<readonly NeedState[]>;
  close(): Promise<void>;
}

/** Single scopes that one poll asks for: with a poll every three seconds fewer than 150 token requests a minute. */
const scopesPerLook = 3;

export function createLookout(settings: Omit<ConnectionSettings, "clientId">, signal: AbortSignal): Lookout {
  const clock = systemClock;
  const sender = createRequestSender({ ...settings, clientId: "" }, { signal, clock, trace: undefined });
  const granted = new Set<string>();
  let turn = 0;
  let kept: { readonly clientId: string; readonly login: Login } | null = null;

  return { look, close: () => sender.close() };

  async function look(clientId: string | null): Promise<readonly NeedState[]> {
    const [org, answers] = await collected(examineOrganization(settings, { sender }));
    const states = answers.map((answer) => toNeed(answer.step, answer));
    if (org === null) return states;
    if (clientId === null) return [...states, need("app", "open", "No Client ID yet")];
    const refusal = await attempt(findScopes(loginFor(clientId), org.scopePrefix));
    if (refusal instanceof IdpError) return [...states, ...refusedLogin(refusal, clientId)];
    states.push(foundApp(clientId), need("key", "done", "Public key: saved in the app, and active"));
    for (const scope of requiredScopes) {
      const [name, isThere] = [`okta.${scope}`, granted.has(scope)];
      const text = isThere ? name : `${name}: not granted to the app ${clientId}`;
      states.push(need(`scope:${scope}`, isThere ? "done" : "open", text));
    }
    if (granted.size === 0)
      return [...states, need("role", "open", "The role cannot be seen before a scope is granted")];
    const config = { ...settings, clientId, scopes: [...granted] };
    const [client, steps] = await collected(examineLogin(config, { org, sender, clock }));
    const dpop = steps.find(({ step }) => step === "dpop");
    const failure = steps.find(({ state }) => state === "fail");
    if (client !== null) {
      const roles = await assignedRoles(clientId, client);
      states.push(need("role", "done", roleText(roles)), await logState(client), await publicClientState(client));
    } else if (failure !== undefined) {
      const isRole = failure.error?.code === "no_role";
      states.push(
        need("role", "open", isRole ? `The app ${clientId} has no admin role. ${remedies.role}` : failure.detail),
      );
    }
    if (dpop !== undefined) states.push(dpopState(dpop));
    return states;
  }

  /** One for each app: it keeps the provider's nonce. */
  function loginFor(clientId: string): Login {
    if (kept?.clientId === clientId) return kept.login;
    granted.clear();
    const login = new Login({ ...settings, clientId, sender, clock, scopes: [], noScopeRemedy: remedies.scopes });
    kept = { clientId, login };
    return login;
  }

  /** Asks for all required scopes at once, then for some of the missing ones alone. */
  async function findScopes(login: Login, prefix: string): Promise<void> {
    const request = async (scopes: readonly string[]) => {
      const token = await login.request(scopes.map((scope) => `${prefix}.${scope}`));
      if (token instanceof IdpError) return;
      for (const scope of scopes) if (token.scopes.includes(`${prefix}.${scope}`)) granted.add(scope);
    };
    await request(requiredScopes);
    const missing = [...requiredScopes, ...Object.keys(optionalScopes)].filter((scope) => !granted.has(scope));
    const asked = missing.slice(0, scopesPerLook).map((_, index) => missing[(turn + index) % missing.length] ?? "");
    turn += asked.length;
    for (const scope of asked) await request([scope]);
  }

  async function logState(client: HttpIdpClient): Promise<NeedState> {
    if (!granted.has("logs.read")) return cannotBeSeen("system_log", "The System Log", "logs.read");
    const answer = await client.getPage({ path: "/api/v1/logs?limit=1", scope: "logs.read" });
    return answer.state === "obtained"
      ? optional("system_log", "done", "System Log: readable")
      : optional("system_log", "wrong", `System Log: ${answer.detail}`);
  }

  /** With it on, Okta itself gives every new service app the role Super Administrator. */
  async function publicClientState(client: HttpIdpClient): Promise<NeedState> {
    const name = "The setting of public client apps";
    if (!granted.has("orgs.read")) return cannotBeSeen("public_client", name, "orgs.read");
    const answer = await client.getObject({ path: "/api/v1/org/settings/clientPrivilegesSetting", scope: "orgs.read" });
    if (answer.state === "missing") return optional("public_client", "open", `${name}: ${answer.detail}`);
    if (answer.value["clientPrivilegesSetting"] !== true)
      return optional("public_client", "done", "Public client app admins: off");
    const text = `Public client app admins is on: new apps get Super Administrator by themselves. Turn off ${places.publicClientAdmins}`;
    return optional("public_client", "wrong", text);
  }
}

/** The result of an examination, and its steps. */
async function collected<Value>(
  steps: AsyncGenerator<StepResult, Value>,
): Promise<readonly [Value, readonly StepResult[]]> {
  const results: StepResult[] = [];
  for (;;) {
    const next = await steps.next();
    if (next.done === true) return [next.value, results];
    results.push(next.value);
  }
}

/** The state of a need; a warning of the examination is something that is wrong here. */
function toNeed(name: string, { state, detail, remedy }: StepResult): NeedState {
  return need(name, state === "ok" ? "done" : "wrong", remedy === null ? detail : `${detail}. ${remedy}`);
}

function roleText(roles: readonly string[]): string {
  const text = `Role: ${roles.length === 0 ? "assigned" : roles.join(", ")}`;
  return roles.includes("SUPER_ADMIN") ? `${text}. Read-Only Administrator is enough for routine scans` : text;
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

function dpopState({ state }: StepResult): NeedState {
  return state === "ok"
    ? optional("dpop", "done", "DPoP: on, tokens are bound to this program")
    : optional("dpop", "open", `DPoP is off: a copied token works anywhere. ${remedies.dpop}`);
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
