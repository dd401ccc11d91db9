import { ProviderClock, systemClock } from "../okta/clock.ts";
import { createAuthorizedClient, createRequestSender } from "../okta/connection.ts";
import type { ConnectionSettings } from "../okta/connection_settings.ts";
import type { HttpIdpClient } from "../okta/http_idp_client.ts";
import { attempt, IdpError, type IdpErrorCode } from "../okta/idp_error.ts";
import { createOAuthClient, type AccessToken } from "../okta/oauth_client.ts";
import { readOrganization, type Organization } from "../okta/organization.ts";
import { artifactTable } from "../evidence/artifact_table.ts";
import { TokenEndpoint } from "../okta/token_endpoint.ts";
import { places, remedies } from "../okta/console_places.ts";
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

/** Looks at an org as often as it is asked, with few token requests: scopes that are missing are asked for in turns. */
export interface Lookout {
  look(clientId: string | null): Promise<readonly NeedState[]>;
  close(): Promise<void>;
}

const toleratedSkewSeconds = 25;
/** Single scopes that one look asks for: with a look every two seconds fewer than 150 token requests a minute. */
const scopesPerLook = 3;

export function createLookout(settings: Omit<ConnectionSettings, "clientId">, signal: AbortSignal): Lookout {
  const { orgUrl } = settings;
  const sender = createRequestSender({ ...settings, clientId: "" }, { signal, clock: systemClock, trace: undefined });
  const granted = new Set<string>();
  let turn = 0;
  let login: { readonly clientId: string; readonly endpoint: TokenEndpoint } | null = null;
  /** For the scopes that were granted when it was made. */
  let session: { readonly key: string; readonly client: HttpIdpClient } | null = null;

  return { look, close: () => sender.close() };

  async function look(clientId: string | null): Promise<readonly NeedState[]> {
    const org = await attempt(readOrganization({ ...settings, sender }));
    if (org instanceof IdpError) return [wrong("organization", `${org.message}. ${org.remedy}`)];
    const states = [organizationState(org, orgUrl), clockState(org)];
    if (clientId === null) return [...states, open("app", "No Client ID yet")];
    const endpoint = await endpointFor(clientId);
    const outcome = await attempt(findScopes(endpoint, org.scopePrefix));
    if (outcome instanceof IdpError) return [...states, ...refusedLogin(outcome, clientId)];
    const { token } = outcome;
    return [
      ...states,
      done("app", `App ${clientId}: found`),
      done("key", "Public key: saved in the app, and active"),
      ...requiredScopes.map((scope) => scopeState(scope, clientId)),
      ...(await roleStates(clientId, org)),
      token === null ? null : dpopState(token),
    ].filter((state) => state !== null);
  }

  /** One for each app: it keeps the provider's nonce. */
  async function endpointFor(clientId: string): Promise<TokenEndpoint> {
    if (login?.clientId === clientId) return login.endpoint;
    granted.clear();
    const providerClock = new ProviderClock(systemClock);
    const oauth = await createOAuthClient({ ...settings, clientId, clock: providerClock });
    const endpoint = new TokenEndpoint({ orgUrl, oauth, sender, clock: systemClock, providerClock });
    login = { clientId, endpoint };
    return endpoint;
  }

  async function findScopes(endpoint: TokenEndpoint, prefix: string): Promise<{ readonly token: AccessToken | null }> {
    const named = (scopes: readonly string[]) => scopes.map((scope) => `${prefix}.${scope}`);
    const all = await endpoint.request(named(requiredScopes));
    if (all.state === "token") {
      const carried = all.token.scopes ?? named(requiredScopes);
      for (const scope of requiredScopes) if (carried.includes(`${prefix}.${scope}`)) granted.add(scope);
    }
    const missing = [...requiredScopes, ...Object.keys(optionalScopes)].filter((scope) => !granted.has(scope));
    const asked = Array.from(
      { length: Math.min(scopesPerLook, missing.length) },
      () => missing[turn++ % missing.length],
    );
    let token = all.state === "token" ? all.token : null;
    for (const scope of new Set(asked)) {
      if (scope === undefined) continue;
      const outcome = await endpoint.request(named([scope]));
      if (outcome.state !== "token") continue;
      token ??= outcome.token;
      if (outcome.token.scopes?.includes(`${prefix}.${scope}`) !== false) granted.add(scope);
    }
    return { token };
  }

  function scopeState(scope: string, clientId: string): NeedState {
    const name = `okta.${scope}`;
    if (granted.has(scope)) return done(`scope:${scope}`, name);
    return open(`scope:${scope}`, `${name}: not granted to the app ${clientId}`);
  }

  async function roleStates(clientId: string, org: Organization): Promise<readonly NeedState[]> {
    const scopes = [...granted];
    const waiting = open("role", "The role cannot be seen before a scope is granted");
    const read = Object.values(artifactTable).find(
      ({ request }) => request !== null && granted.has(request.scope),
    )?.request;
    if (read === undefined || read === null) return [waiting];
    const key = JSON.stringify([clientId, scopes]);
    if (session?.key !== key) {
      const parts = { org, sender, clock: systemClock };
      const { client, tokens } = await createAuthorizedClient({ ...settings, clientId, scopes }, parts);
      const refusal = await attempt(tokens.current());
      if (refusal instanceof IdpError) return [open("role", refusal.message)];
      session = { key, client };
    }
    const { client } = session;
    const answer = await attempt(client.getPage(read));
    if (answer instanceof IdpError) return [open("role", answer.message)];
    const isRefused = answer.state === "missing" && answer.reason === "missing_role";
    const role = isRefused
      ? open("role", `The app ${clientId} has no admin role. ${remedies.role}`)
      : answer.state === "missing"
        ? open("role", answer.detail)
        : done("role", await roleText(clientId, client));
    return role.state === "done" ? [role, await logState(client), await publicClientState(client)] : [role];
  }

  async function roleText(clientId: string, client: HttpIdpClient): Promise<string> {
    if (!granted.has("roles.read")) return "Role: assigned";
    const path = `/oauth2/v1/clients/${encodeURIComponent(clientId)}/roles`;
    const roles = await client.getList({ path, scope: "roles.read" });
    const names = roles.state === "obtained" ? roles.value.map(({ type }) => String(type)) : [];
    const text = `Role: ${names.length === 0 ? "assigned" : names.join(", ")}`;
    return names.includes("SUPER_ADMIN") ? `${text}. Read-Only Administrator is enough for routine scans` : text;
  }

  async function logState(client: HttpIdpClient): Promise<NeedState> {
    if (!granted.has("logs.read")) return optional("system_log", "open", cannotBeSeen("The System Log", "logs.read"));
    const answer = await client.getPage({ path: "/api/v1/logs?limit=1", scope: "logs.read" });
    return answer.state === "obtained"
      ? optional("system_log", "done", "System Log: readable")
      : optional("system_log", "wrong", `System Log: ${answer.detail}`);
  }

  /** With it on, Okta itself gives every new service app the role Super Administrator. */
  async function publicClientState(client: HttpIdpClient): Promise<NeedState> {
    const name = "The setting of public client apps";
    if (!granted.has("orgs.read")) return optional("public_client", "open", cannotBeSeen(name, "orgs.read"));
    const answer = await client.getObject({ path: "/api/v1/org/settings/clientPrivilegesSetting", scope: "orgs.read" });
    if (answer.state === "missing") return optional("public_client", "open", `${name}: ${answer.detail}`);
    return answer.value["clientPrivilegesSetting"] === true
      ? optional(
          "public_client",
          "wrong",
          `Public client app admins is on: new apps get Super Administrator by themselves. Turn off ${places.publicClientAdmins}`,
        )
      : optional("public_client", "done", "Public client app admins: off");
  }
}

function organizationState(org: Organization, orgUrl: string): NeedState {
  if (org.id === null && org.engine === "unknown")
    return wrong(
      "organization",
      `${orgUrl} answers, but it is not an Okta org. Check the address, such as https://acme.okta.com`,
    );
  const engine = org.engine === "classic" ? "Classic Engine" : org.engine === "identity" ? "Identity Engine" : "Okta";
  return done("organization", `${orgUrl} answers (${engine})`);
}

function clockState({ moment }: Organization): NeedState {
  const seconds = moment === null ? 0 : Math.round((moment.providerMs - moment.receivedAtMs) / 1000);
  if (Math.abs(seconds) <= toleratedSkewSeconds) return done("clock", "Clock: agrees with the org's");
  const side = seconds > 0 ? "behind" : "ahead of";
  return wrong("clock", `This machine's clock is ${Math.abs(seconds)} s ${side} the org's. Set the clock (NTP)`);
}

/** States after a refused login: the step at which it ended shows how much is right. */
function refusedLogin(error: IdpError, clientId: string): readonly NeedState[] {
  const text = `${error.message}. ${error.remedy}`;
  const found = done("app", `App ${clientId}: found`);
  const byCode: Partial<Record<IdpErrorCode, readonly NeedState[]>> = {
    wrong_client: [
      wrong(
        "app",
        `This org has no active API Services app with the Client ID ${clientId}. Copy it from the app's page`,
      ),
    ],
    bad_key: [
      found,
      open(
        "key",
        `The app ${clientId} does not accept the key. Paste the line above into this app, not another one, save, and see that the key is Active`,
      ),
    ],
    clock_skew: [wrong("clock", text)],
    dpop_refused: [found, wrong("dpop", text)],
    no_scope: [found, done("key", "Public key: saved in the app, and active")],
    wrong_org: [wrong("organization", text)],
    unreachable: [wrong("organization", text)],
    tls_failed: [wrong("organization", text)],
  };
  return byCode[error.code] ?? [wrong("app", text)];
}

function dpopState({ type }: AccessToken): NeedState {
  return type === "DPoP"
    ? optional("dpop", "done", "DPoP: on, tokens are bound to this program")
    : optional("dpop", "open", `DPoP is off: a copied token works anywhere. ${remedies.dpop}`);
}

function cannotBeSeen(what: string, scope: string): string {
  return `${what} cannot be seen without okta.${scope} (optional)`;
}

function done(need: string, text: string): NeedState {
  return { need, state: "done", text, isRequired: true };
}

function open(need: string, text: string): NeedState {
  return { need, state: "open", text, isRequired: true };
}

function wrong(need: string, text: string): NeedState {
  return { need, state: "wrong", text, isRequired: true };
}

function optional(need: string, state: NeedState["state"], text: string): NeedState {
  return { need, state, text, isRequired: false };
}
