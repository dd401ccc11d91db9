import { createHash } from "node:crypto";
import type { JsonObject } from "../../shared/json.ts";
import recorded from "./new_objects.json" with { type: "json" };
import type { App, BrandWithPages, PolicyWithRules, Resource, Site } from "./org_contents.ts";

/** Objects that an org gets while it runs: copies of recorded ones, with an id and a name of their own. */

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const bodyLength = 14;
const cell = "5d7";
const tokenLifetimeMs = 30 * 24 * 3_600_000;

/**
 * An id of the provider's form: a three-character prefix for the kind, twenty characters in all. The same kind and name
 * give the same id at every start, so that baselines, waivers and saved artifacts of a practice org stay valid.
 */
export function oktaId(prefix: string, name: string): string {
  const digest = createHash("sha256").update(`${prefix}\n${name}`).digest();
  let body = "";
  for (const byte of digest.subarray(0, bodyLength)) body += alphabet.charAt(byte % alphabet.length);
  return `${prefix}${body}${cell}`;
}

/** A copy of a recording in which `{name}` is the value with that name. */
export function copyOf<Recording>(recording: Recording, values: Readonly<Record<string, string>>): Recording {
  const text = JSON.stringify(recording).replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : JSON.stringify(value).slice(1, -1);
  });
  return JSON.parse(text) as Recording;
}

/** The values of every recording. A token lives for thirty days after its last use. */
export function valuesOf({ url, nowMs }: Site) {
  return { url, host: new URL(url).host, expiresAt: new Date(nowMs + tokenLifetimeMs).toISOString() };
}

export const { defaultPage, verificationMethods, laxSessionRule } = recorded;
/** Fields that Okta fills in where a client sends none. */
export const { defaults } = recorded;
/** An entry of the System Log, a change by a person in the Admin Console. */
export const { logEvent: recordedEvent } = recorded;
/** Okta's sign-in page with DISA's banner. */
export const { bannerPage } = recorded;
/** The authority that a smart card identity provider trusts, and the authority's key. */
export const { certificateAuthorities } = recorded;
export type CertificateAuthority = keyof typeof certificateAuthorities;

/** The org's own description, and its settings. */
export const { organization, orgSettings } = recorded;

export const anywhere: JsonObject = { connection: "ANYWHERE" };

/** Traffic from this zone only. */
export function fromZone(zoneId: string): JsonObject {
  return { connection: "ZONE", include: [zoneId] };
}

interface NewApp {
  readonly label: string;
  readonly orgId: string;
  /** Null: not bound to a policy, as every app of the Classic Engine. */
  readonly policyId: string | null;
}

/** An app of a web server that people sign in to with OpenID Connect. */
export function webApp(site: Site, { label, orgId, policyId }: NewApp): App {
  const values = { url: site.url, id: oktaId("0oa", label), label, org: orgId, policy: policyId ?? "" };
  return copyOf(recorded.webApp, values);
}

/** An API Services integration: nobody signs in to it. */
export function serviceApp(site: Site, spec: NewApp & { readonly requiresDpop: boolean }): App {
  const { label, orgId, policyId, requiresDpop } = spec;
  const values = { url: site.url, id: oktaId("0oa", label), label, org: orgId, policy: policyId ?? "" };
  const { _links: links, settings, ...app } = copyOf(recorded.serviceApp, values);
  const { accessPolicy: _, ...otherLinks } = links;
  settings.oauthClient.dpop_bound_access_tokens = requiresDpop;
  return { ...app, settings, _links: policyId === null ? otherLinks : links };
}

/** An app that asks for a password alone. */
export function weakApp({ url }: Site, orgId: string): App {
  return copyOf(recorded.weakApp, { url, org: orgId });
}

/** The policy that asks for a password alone. */
export function weakPolicy({ url }: Site): PolicyWithRules {
  return copyOf(recorded.weakPolicy, { url });
}

/** A policy of an org of many apps: phishing-resistant from headquarters, or two factors from anywhere. */
export function departmentPolicy({ url }: Site, kind: "strict" | "lax", name: string): PolicyWithRules {
  const ruleId = (rule: string) => oktaId("rul", `ACCESS_POLICY ${name} ${rule}`);
  return copyOf(recorded.departmentPolicies[kind], {
    url,
    name,
    id: accessPolicyId(name),
    staff: ruleId("Staff"),
    catchAll: ruleId("Catch-all Rule"),
  });
}

export function accessPolicyId(name: string): string {
  return oktaId("rst", `ACCESS_POLICY ${name}`);
}

export interface RuleSpec {
  readonly name: string;
  readonly priority: number;
  readonly conditions: JsonObject;
  readonly actions: JsonObject;
}

export function newRule({ url }: Site, { policy }: PolicyWithRules, spec: RuleSpec): Resource {
  const { type } = policy;
  const prefix = type === "ACCESS_POLICY" || type === "USER_LIFECYCLE" ? "rul" : "0pr";
  const id = oktaId(prefix, `${type} ${policy.name} ${spec.name}`);
  const rule = copyOf(recorded.rule, { url, id, name: spec.name, policy: policy.id });
  // The rules of sign-on policies carry a type of their own.
  return { ...rule, ...spec, type: type === "OKTA_SIGN_ON" ? "SIGN_ON" : type };
}

/** An enhanced dynamic zone. */
export function newZone({ url }: Site, { name, ...fields }: JsonObject & { readonly name: string }): Resource {
  const { _links, ...zone } = copyOf(recorded.zone, { url, name, id: oktaId("nzo", name) });
  return { ...zone, type: "DYNAMIC_V2", ...fields, _links };
}

export interface LogStreamSpec {
  readonly name: string;
  readonly type: "aws_eventbridge" | "splunk_cloud_logstreaming";
  readonly settings: JsonObject;
}

export function newLogStream({ url }: Site, { name, type, settings }: LogStreamSpec): Resource {
  const stream = copyOf(recorded.logStream, { url, name, id: oktaId("0oa", `log stream ${name}`) });
  return { ...stream, type, settings };
}

/** An API token that may be used from anywhere. */
export function newApiToken(site: Site, name: string, owner: string): Resource {
  return copyOf(recorded.apiToken, { ...valuesOf(site), name, owner, id: oktaId("00T", name) });
}

/** A brand that nobody customized. */
export function newBrand({ url }: Site): BrandWithPages {
  return copyOf(recorded.newBrand, { url });
}

const roleLabels = { SUPER_ADMIN: "Super Administrator", READ_ONLY_ADMIN: "Read-only Administrator" } as const;

/** An assignment of a standard role. Users and groups carry it directly; a client has the type CLIENT. */
export function roleAssignment(
  role: keyof typeof roleLabels,
  assignee: { readonly type: "USER" | "GROUP" | "CLIENT"; readonly id: string; readonly href: string },
): Resource {
  return copyOf(recorded.roleAssignment, {
    id: oktaId("ra1", `${role} ${assignee.id}`),
    label: roleLabels[role],
    role,
    assignee: assignee.type,
    href: assignee.href,
  });
}

/** An assignment of a custom role on a resource set to a client. */
export function customRoleAssignment(clientId: string, href: string): Resource {
  return copyOf(recorded.customRoleAssignment, {
    id: oktaId("irb", `Compliance scanner ${clientId}`),
    href,
  });
}
