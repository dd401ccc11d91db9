import type { JWK } from "jose";
import { isJsonObject } from "../../shared/json.ts";
import { NotPossibleError } from "../not_possible_error.ts";
import type { RegisteredClient } from "./client_assertion.ts";

/** Administrator role of the service application: how much it sees. */
export type Role = "none" | "read-only" | "custom" | "super";

/**
 * The scanner's service app as the Admin Console has it: what a person sets up there, click by click. As in the real console, a
 * scope is granted one at a time, a key that is not active is refused, and nothing of it works before the app exists.
 */
export interface ServiceAppState {
  isCreated: boolean;
  keys: { readonly jwk: JWK; isActive: boolean }[];
  /** Without prefix. */
  readonly grantedScopes: Set<string>;
  role: Role;
  dpop: "required" | "off";
  /** The org's setting: each app that is created while it is on gets Super Administrator. */
  hasPublicClientAdmins: boolean;
  /** Time by which the org's clock is ahead of this machine's. */
  clockOffsetMs: number;
}

/** A service app as far as its calls depend on it. */
export interface KnownApp {
  readonly isCreated: boolean;
  readonly keys: readonly { readonly jwk: JWK; readonly isActive: boolean }[];
  /** Without prefix. */
  readonly grantedScopes: ReadonlySet<string>;
  readonly role: Role;
}

/** One click that the page offers for the app, and `practice-org change` by name. */
export interface AppClick {
  /** `scope-granted:policies.read`; the key of `key-saved` comes with it. */
  readonly name: string;
  readonly label: string;
  readonly isPossible: boolean;
}

const clockOffMs = 5 * 60_000;

/** Clicks that set one field. */
const switches: readonly (readonly [name: string, label: string, set: Partial<ServiceAppState>])[] = [
  ["role-assigned", "Assign Read-Only Administrator", { role: "read-only" }],
  ["super-assigned", "Assign Super Administrator", { role: "super" }],
  ["role-removed", "Remove the admin role", { role: "none" }],
  ["dpop-on", "Require DPoP", { dpop: "required" }],
  ["dpop-off", "Do not require DPoP", { dpop: "off" }],
  ["public-client-on", "Turn on public client app admins", { hasPublicClientAdmins: true }],
  ["public-client-off", "Turn off public client app admins", { hasPublicClientAdmins: false }],
  ["clock-off", "Set the org's clock five minutes ahead", { clockOffsetMs: clockOffMs }],
  ["clock-right", "Set the org's clock right", { clockOffsetMs: 0 }],
];

export const serviceAppClicks: readonly string[] = [
  "app-created",
  "service-app-deleted",
  "key-saved",
  "key-inactive",
  "key-active",
  "scope-granted:NAME",
  "scope-revoked:NAME",
  ...switches.map(([name]) => name),
];

export function isAppClick(name: string): boolean {
  const [base = ""] = name.split(":");
  return serviceAppClicks.some((click) => click.split(":")[0] === base);
}

/** Makes one click; `key` is the public key that was pasted. Throws `RangeError` for what does not exist, `NotPossibleError`. */
export function clickApp(app: ServiceAppState, name: string, { key, scopes }: ClickInput): void {
  const [base = "", named = ""] = name.split(":");
  const scope = named.replace(/^okta\./, "");
  if (isOfApp(base) && !app.isCreated) throw new NotPossibleError("There is no app yet: create it first");
  if (base.startsWith("scope-") && !scopes.includes(scope))
    throw new RangeError(`There is no scope okta.${scope.slice(0, 60)}: expected one such as policies.read`);
  switch (base) {
    case "app-created":
      if (app.isCreated) throw new NotPossibleError("The app exists already");
      app.isCreated = true;
      if (app.hasPublicClientAdmins) app.role = "super";
      return;
    case "service-app-deleted":
      Object.assign(app, { isCreated: false, keys: [], role: "none" });
      app.grantedScopes.clear();
      return;
    case "key-saved":
      app.keys = [{ jwk: parsePublicKey(key ?? ""), isActive: true }];
      return;
    case "key-inactive":
    case "key-active":
      if (app.keys.length === 0) throw new NotPossibleError("The app has no key");
      for (const each of app.keys) each.isActive = base === "key-active";
      return;
    case "scope-granted":
      app.grantedScopes.add(scope);
      return;
    case "scope-revoked":
      app.grantedScopes.delete(scope);
      return;
    default:
      Object.assign(app, switches.find(([one]) => one === base)?.[2]);
  }
}

function isOfApp(name: string): boolean {
  return !/^(?:app-created|public-client|clock)/.test(name);
}

interface ClickInput {
  readonly key: string | null;
  /** Every scope that there is, without prefix. */
  readonly scopes: readonly string[];
}

/** Accepts a key as the console does: one public JWK with a `kid`, without its private half. */
function parsePublicKey(text: string): JWK {
  const fail = (problem: string) => new NotPossibleError(`This is no public key: ${problem}`);
  let jwk: unknown;
  try {
    jwk = JSON.parse(text.trim());
  } catch {
    throw fail('expected one line of JSON that begins with {"kty"');
  }
  if (!isJsonObject(jwk)) throw fail("expected a JWK");
  if ("d" in jwk) throw fail("it holds the private half, which must stay where it is");
  const { kty, kid } = jwk;
  if ((kty !== "EC" && kty !== "RSA") || typeof kid !== "string") throw fail('expected "kty" EC or RSA, and a "kid"');
  return jwk;
}

/** Returns the app as the token endpoint knows it; null: there is no such app. */
export function registered(app: KnownApp, clientId: string): RegisteredClient | null {
  if (!app.isCreated) return null;
  return {
    clientId,
    keys: app.keys.filter(({ isActive }) => isActive).map(({ jwk }) => jwk),
    grantedScopes: new Set([...app.grantedScopes].map((scope) => `okta.${scope}`)),
  };
}

/** The buttons of the page, in the order of the console. */
export function clicksOf(app: ServiceAppState, scopes: readonly string[]): readonly AppClick[] {
  const click = (name: string, label: string, isPossible: boolean) => ({ name, label, isPossible });
  const { isCreated, keys } = app;
  return [
    click("app-created", "Create the app", !isCreated),
    click("service-app-deleted", "Delete the app", isCreated),
    click("key-saved", "Save the public key", isCreated),
    click(
      "key-inactive",
      "Deactivate the key",
      keys.some(({ isActive }) => isActive),
    ),
    click(
      "key-active",
      "Activate the key",
      keys.some(({ isActive }) => !isActive),
    ),
    ...scopes.flatMap((scope) => [
      click(`scope-granted:${scope}`, `Grant okta.${scope}`, isCreated && !app.grantedScopes.has(scope)),
      click(`scope-revoked:${scope}`, `Revoke okta.${scope}`, isCreated && app.grantedScopes.has(scope)),
    ]),
    ...switches.map(([name, label, set]) => {
      const isOther = Object.entries(set).some(([field, value]) => value !== app[field as keyof ServiceAppState]);
      return click(name, label, isOther && (isCreated || !isOfApp(name)));
    }),
  ];
}
