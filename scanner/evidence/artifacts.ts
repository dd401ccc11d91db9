import type { JsonObject } from "../../shared/json.ts";
import type { ManualReason } from "../../shared/report.ts";

/** Why evidence could not be obtained; becomes the `reason` of every MANUAL that rests on it. */
export type MissingReason = Exclude<ManualReason, "interrupted" | "not_applicable" | "needs_review">;

/** A value that was obtained, or why it was not; never an empty default. */
export type Evidence<Value> =
  | { readonly state: "obtained"; readonly value: Value; readonly read?: ReadFact }
  | MissingEvidence<Value>;

/** Request that read an artifact of a saved file, and its time. */
export interface ReadFact {
  /** `GET /api/v1/policies?type=PASSWORD`, and the others that it took. */
  readonly request: string;
  /** ISO 8601, UTC: when the last answer was there. */
  readonly at: string;
}

export interface MissingEvidence<Value = unknown> {
  readonly state: "missing";
  readonly reason: MissingReason;
  /** One sentence: the request, its answer, and what to do about it. */
  readonly detail: string;
  /** The part that arrived before the failure (the first pages of a list): enough for a FAIL, never for a PASS. */
  readonly partial: Value | null;
  readonly read?: ReadFact;
}

export type JsonList = readonly JsonObject[];

/**
 * Fetched evidence, by name. The objects are the provider's JSON without the fields that no check reads and `fix` does not
 * write back, so that an org of 10,000 apps stays small. Field names are those of the saved file (snake_case).
 * `artifact_table.ts` says how each is read, saved, followed and listed.
 */
export interface Artifacts {
  /** `GET /policies?type=OKTA_SIGN_ON` and each active policy's `/rules`. */
  readonly global_session_policies: Evidence<readonly PolicyWithRules[]>;
  readonly password_policies: Evidence<JsonList>;
  /** `GET /policies?type=USER_LIFECYCLE` (the console calls them automations) and each policy's `/rules`. */
  readonly user_lifecycle_policies: Evidence<readonly PolicyWithRules[]>;
  /** The groups that automations name, for their names: `GET /groups/{id}`. One that cannot be read is left out. */
  readonly automation_groups: Evidence<JsonList>;
  /** `GET /apps`: id, name, label, status, how people sign in, and the link to the access policy. */
  readonly apps: Evidence<JsonList>;
  /** The rules of every access policy that an active app of `apps` names, by policy id. */
  readonly app_policy_rules: Evidence<RulesById>;
  /** `GET /policies?type=ACCESS_POLICY`: the names of the policies of apps. */
  readonly access_policies: Evidence<JsonList>;
  /** The app `saasure`, where the answer holds it, with its access policy's rules. */
  readonly admin_console_app: Evidence<BuiltInApp>;
  /** The app `okta_enduser`, where the answer holds it, with its access policy's rules. */
  readonly dashboard_app: Evidence<BuiltInApp>;
  readonly admin_console_settings: Evidence<JsonObject>;
  readonly authenticators: Evidence<JsonList>;
  /** `GET /brands?expand=domains`, each with its sign-in page: the customized one, or the default where none is set. */
  readonly brand_sign_in_pages: Evidence<readonly BrandSignInPage[]>;
  readonly network_zones: Evidence<JsonList>;
  readonly api_tokens: Evidence<JsonList>;
  /** The roles of the owner of each token of `api_tokens`, direct and through groups, by user id. */
  readonly api_token_owners: Evidence<ApiTokenOwners>;
  /** `GET /groups?filter=type eq "BUILT_IN"`: Everyone, and the administrators' group. */
  readonly built_in_groups: Evidence<JsonList>;
  readonly log_streams: Evidence<JsonList>;
  /** `GET /idps?type=SAML2`, which may be the source of users. */
  readonly saml_idps: Evidence<JsonList>;
  /** `GET /idps?type=X509`, each with the fields of its trusted certificate. */
  readonly smart_card_idps: Evidence<readonly SmartCardIdp[]>;
}

export type ArtifactName = keyof Artifacts;

/** The artifacts collected so far, or those of a saved file. */
export type CollectedArtifacts = { readonly [Name in ArtifactName]?: Artifacts[Name] | undefined };

export interface PolicyWithRules {
  readonly policy: JsonObject;
  /** Null: not requested, because the policy is not active. */
  readonly rules: Evidence<JsonList> | null;
}

export type RulesById = Readonly<Record<string, Evidence<JsonList>>>;

export interface BuiltInApp {
  /** Null: the provider's answer does not contain the app, as for every role below Super Administrator. */
  readonly app: JsonObject | null;
  /** Null: the app is bound to no policy. */
  readonly rules: Evidence<JsonList> | null;
}

export interface BrandSignInPage {
  /** With `domains`, the list of the ones that show it. Without: it could not be read, or is not needed. */
  readonly brand: JsonObject;
  readonly page: Evidence<SignInPage>;
}

export interface SignInPage {
  readonly kind: "customized" | "default";
  /** The page's `pageContent` with its lines; absent and null stay null. */
  readonly content: unknown;
  /** The other fields: of what the provider keeps for the brand, else of the default page. */
  readonly settings?: JsonObject;
  /** True when the provider keeps a customized page for the brand, be it without content. */
  readonly is_stored?: boolean;
}

export type ApiTokenOwners = Readonly<Record<string, ApiTokenOwner>>;

export interface ApiTokenOwner {
  /** Null: the user could not be read, or has none. It names the owner and decides nothing. */
  readonly login: string | null;
  readonly roles: Evidence<JsonList>;
  /** Null: not requested, because a role of the user's own already decides. */
  readonly groups: Evidence<readonly OwnerGroup[]> | null;
}

export interface OwnerGroup {
  readonly id: string;
  readonly name: string;
  readonly roles: Evidence<JsonList>;
}

export interface SmartCardIdp {
  readonly idp: JsonObject;
  /** Null: the provider names no key, or its key holds no certificate that can be read. */
  readonly certificate: Evidence<TrustedCertificate | null>;
}

/** The fields of a certificate, parsed by its collector: a check cannot parse X.509. */
export interface CertificateFields {
  readonly subject: string;
  readonly issuer: string;
  /** Hex. */
  readonly serial: string;
  /** The digest of the whole certificate, in hex. */
  readonly sha256: string;
  /** ISO 8601, UTC. */
  readonly valid_from: string;
  readonly valid_to: string;
}

export interface TrustedCertificate extends CertificateFields {
  /** The certificates that follow it in the provider's answer. */
  readonly chain: readonly CertificateFields[];
  /** As the provider sent it, on one line. */
  readonly x5c: string;
}

export function obtained<Value>(value: Value): Evidence<Value> {
  return { state: "obtained", value };
}

export function missing<Value>(
  reason: MissingReason,
  detail: string,
  partial: Value | null = null,
): MissingEvidence<Value> {
  return { state: "missing", reason, detail, partial };
}

/** The entries of a list, as far as they were obtained. */
export function entriesOf<Item>(evidence: Evidence<readonly Item[]> | null | undefined): readonly Item[] {
  return evidence === undefined || evidence === null ? [] : (availableValue(evidence) ?? []);
}

/** The value, the part of it that arrived, or null. */
export function availableValue<Value>(evidence: Evidence<Value>): Value | null {
  return evidence.state === "obtained" ? evidence.value : evidence.partial;
}
