import * as v from "valibot";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { missingReasons } from "../../shared/schemas/finding.ts";

export type MissingReason = (typeof missingReasons)[number];

/** True where the provider did not show the evidence; `unreadable` is evidence that it showed, and that this version cannot read. */
export function isNotShown(reason: string | null | undefined): boolean {
  return reason !== "unreadable" && missingReasons.some((missing) => missing === reason);
}

/** A value that was obtained, or why it was not; never an empty default. */
export type Evidence<Value> =
  | { readonly state: "obtained"; readonly value: Value; readonly read?: ReadFact }
  | MissingEvidence<Value>;

export interface MissingEvidence<Value = unknown> {
  readonly state: "missing";
  readonly reason: MissingReason;
  /** One sentence: the request, its answer, and what to do about it. */
  readonly detail: string;
  /** The part that arrived before the failure (the first pages of a list): enough for a FAIL, never for a PASS. */
  readonly partial: Value | null;
  readonly read?: ReadFact;
}

// The messages are for a person whose file is refused.
export const text = v.string("and should be a text");
export const time = v.pipe(
  text,
  v.check((value) => !Number.isNaN(Date.parse(value)), "and should be a time as in 2026-01-31T12:00:00.000Z"),
  // In one form, because validities are compared as texts.
  v.transform((value) => new Date(value).toISOString()),
);
// Not narrowed further: a check reads the provider's JSON leniently, field by field.
const json = v.custom<JsonObject>(isJsonObject, "and should be an object");

type Schema<Value> = v.GenericSchema<unknown, Value>;

export function listOf<Value>(value: Schema<Value>): Schema<readonly Value[]> {
  return v.array(value, "and should be a list");
}

/** Not `v.record`, which leaves out ids such as `constructor` and `__proto__`: a provider may have those too. */
function byId<Value>(value: Schema<Value>): Schema<Readonly<Record<string, Value>>> {
  return v.pipe(
    json,
    v.transform((object) => new Map(Object.entries(object))),
    v.map(v.string(), value),
    v.transform((values) => Object.fromEntries(values)),
  );
}

/** The request that read an artifact of a saved file, with the others that it took, and when the last answer was there. */
const readFact = v.object({ request: text, at: time });
type ReadFact = v.InferOutput<typeof readFact>;
const read = v.exactOptional(readFact);

function evidence<Value>(value: Schema<Value>): Schema<Evidence<Value>> {
  return v.variant(
    "state",
    [
      v.object({ state: v.literal("obtained"), value, read }),
      v.object({
        state: v.literal("missing"),
        reason: v.picklist(missingReasons, "and should be a known reason"),
        detail: text,
        partial: v.nullable(value),
        read,
      }),
    ],
    'and should be evidence with the state "obtained" or "missing"',
  );
}

const jsonList = listOf(json);
const rules = evidence(jsonList);

/** `rules`: null where they were not requested, because the policy is not active. */
const policyWithRules = v.object({ policy: json, rules: v.nullable(rules) });

/**
 * `app`: null where the provider's answer does not contain it, as for every role below Super Administrator. `rules`: those of its access
 * policy; null where it is bound to none.
 */
const builtInApp = v.object({ app: v.nullable(json), rules: v.nullable(rules) });

const signInPage = v.object({
  kind: v.picklist(["customized", "default"]),
  /** The page's `pageContent` with its lines; absent and null stay null. */
  content: v.unknown(),
  /** The other fields: of what the provider keeps for the brand, else of the default page. */
  settings: v.exactOptional(json),
  /** True when the provider keeps a customized page for the brand, be it without content. */
  is_stored: v.exactOptional(v.boolean("and should be true or false")),
});

const brandSignInPage = v.object({
  /** With `domains`, the list of the ones that show it. Without: it could not be read, or is not needed. */
  brand: json,
  page: evidence(signInPage),
});

const ownerGroup = v.object({ id: text, name: text, roles: evidence(jsonList) });

const apiTokenOwner = v.object({
  /** Null: the user could not be read, or has none. It names the owner and decides nothing. */
  login: v.nullable(text),
  roles: evidence(jsonList),
  /** Null: not requested, because a role of the user's own already decides. */
  groups: v.nullable(evidence(listOf(ownerGroup))),
});

/** Parsed by its collector: a check cannot parse X.509. */
const certificateFields = {
  subject: text,
  issuer: text,
  /** Hex. */
  serial: text,
  /** The digest of the whole certificate, in hex. */
  sha256: text,
  valid_from: time,
  valid_to: time,
};

const trustedCertificate = v.object({
  ...certificateFields,
  /** The certificates that follow it in the provider's answer. */
  chain: listOf(v.object(certificateFields)),
  /** As the provider sent it, on one line. */
  x5c: text,
});

const smartCardIdp = v.object({
  idp: json,
  /** Null: the provider names no key, or its key holds no certificate that can be read. */
  certificate: evidence(v.nullable(trustedCertificate)),
});

/**
 * Fetched evidence, by name: the schema of each artifact in a saved file, which is its type as well. The objects are the provider's JSON
 * without the fields that no check reads and `fix` does not write back, so that an org of 10,000 apps stays small.
 * `artifact_table.ts` says how each is read, followed and listed.
 */
const artifacts = {
  global_session_policies: evidence(listOf(policyWithRules)),
  password_policies: evidence(jsonList),
  /** The console calls them automations. */
  user_lifecycle_policies: evidence(listOf(policyWithRules)),
  /** The groups that automations name, for their names. One that cannot be read is left out. */
  automation_groups: evidence(jsonList),
  apps: evidence(jsonList),
  /** The rules of every access policy that an active app of `apps` names, by policy id. */
  app_policy_rules: evidence(byId(rules)),
  /** The policies of apps, for their names. */
  access_policies: evidence(jsonList),
  /** The app `saasure`, where the answer holds it, with its access policy's rules. */
  admin_console_app: evidence(builtInApp),
  /** The app `okta_enduser`, where the answer holds it, with its access policy's rules. */
  dashboard_app: evidence(builtInApp),
  admin_console_settings: evidence(json),
  authenticators: evidence(jsonList),
  /** Each with its sign-in page: the customized one, or the default where none is set. */
  brand_sign_in_pages: evidence(listOf(brandSignInPage)),
  network_zones: evidence(jsonList),
  api_tokens: evidence(jsonList),
  /** The roles of the owner of each token of `api_tokens`, direct and through groups, by user id. */
  api_token_owners: evidence(byId(apiTokenOwner)),
  /** Everyone, and the administrators' group. */
  built_in_groups: evidence(jsonList),
  log_streams: evidence(jsonList),
  /** They may be the source of users. */
  saml_idps: evidence(jsonList),
  smart_card_idps: evidence(listOf(smartCardIdp)),
};

/** The artifacts of a saved file, of which it may hold a part. */
export const collectedArtifacts = v.pipe(json, v.partial(v.object(artifacts)));

export type ArtifactName = keyof typeof artifacts;
export type Artifacts = { readonly [Name in ArtifactName]: v.InferOutput<(typeof artifacts)[Name]> };

/** The artifacts collected so far, or those of a saved file. */
export type CollectedArtifacts = { readonly [Name in ArtifactName]?: Artifacts[Name] | undefined };

export type JsonList = readonly JsonObject[];
export type PolicyWithRules = v.InferOutput<typeof policyWithRules>;
export type BuiltInApp = v.InferOutput<typeof builtInApp>;
export type SignInPage = v.InferOutput<typeof signInPage>;
export type BrandSignInPage = v.InferOutput<typeof brandSignInPage>;
export type ApiTokenOwner = v.InferOutput<typeof apiTokenOwner>;
export type TrustedCertificate = v.InferOutput<typeof trustedCertificate>;
export type CertificateFields = TrustedCertificate["chain"][number];
export type SmartCardIdp = v.InferOutput<typeof smartCardIdp>;

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
export function entriesOf<Item>(list: Evidence<readonly Item[]> | null | undefined): readonly Item[] {
  return list === undefined || list === null ? [] : (availableValue(list) ?? []);
}

/** The value, the part of it that arrived, or null. */
export function availableValue<Value>(found: Evidence<Value>): Value | null {
  return found.state === "obtained" ? found.value : found.partial;
}
