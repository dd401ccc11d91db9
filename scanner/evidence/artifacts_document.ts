import * as v from "valibot";
import { AppError } from "../../shared/app_error.ts";
import type { ScanSummary } from "../../shared/report.ts";
import type { ArtifactName, Artifacts, CollectedArtifacts, Evidence } from "./artifacts.ts";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { explainJsonError, parseJsonText } from "./json_text.ts";

export const artifactsSchema = "scanstream.artifacts/1.1";

/** The evidence of an org with tens of thousands of apps. */
export const maxArtifactsBytes = 256 * 1_048_576;
/** A provider's value has at most a hundred levels (`okta/json_answer.ts`); the document adds some. */
const bounds = { maxDepth: 120, maxParts: 4_000_000 } as const;

/** Document that `--save-artifacts` writes and `--from-artifacts` reads: everything that evaluation needs, and no secret. */
export interface ArtifactsDocument {
  readonly schema: typeof artifactsSchema;
  readonly scan: CollectedScan;
  /** ISO 8601, UTC: certificates have to be valid at this time, so that the same file gives the same findings later. */
  readonly evaluated_at: string;
  readonly checks: readonly string[];
  readonly artifacts: CollectedArtifacts;
}

/** The facts of a scan before evaluation. */
export type CollectedScan = Omit<ScanSummary, "id" | "tenant_id" | "status">;

export interface ArtifactsDocumentInput {
  readonly scan: CollectedScan;
  readonly evaluatedAt: string;
  readonly checks: readonly string[];
  readonly artifacts: CollectedArtifacts;
}

export function artifactsDocument(input: ArtifactsDocumentInput): ArtifactsDocument {
  const { scan, evaluatedAt, checks, artifacts } = input;
  return { schema: artifactsSchema, scan, evaluated_at: evaluatedAt, checks, artifacts };
}

/** Reads a saved file; throws `AppError` that names the problem (`malformed`: no JSON; `invalid`: other JSON). */
export function parseArtifacts(text: string): ArtifactsDocument {
  const json = parseJson(text);
  const schema = isJsonObject(json) ? json["schema"] : undefined;
  if (schema !== artifactsSchema) {
    const found = typeof schema === "string" ? `its schema is "${schema.slice(0, 60)}"` : "it names no schema";
    throw new AppError(
      "invalid",
      `Cannot read the evidence: ${found}; expected "${artifactsSchema}", a file of --save-artifacts`,
    );
  }
  const result = v.safeParse(documentSchema, json, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  const where = v.getDotPath(issue) ?? "the document";
  throw new AppError(
    "invalid",
    `Cannot read the evidence: "${where}" is ${issue.received.slice(0, 60)}, ${issue.message}`,
  );
}

function parseJson(text: string): unknown {
  if (text.trim() === "") throw new AppError("malformed", "Cannot read the evidence: the file is empty");
  try {
    return parseJsonText(text, bounds);
  } catch (error) {
    if (error instanceof RangeError) throw new AppError("invalid", `Cannot read the evidence: ${error.message}`);
    throw new AppError("malformed", `Cannot read the evidence: ${explainJsonError(error, text)}`, { cause: error });
  }
}

type Schema<Value> = v.GenericSchema<unknown, Value>;

const text = v.string("and should be a text");
const texts = v.array(text, "and should be a list");
const count = v.pipe(v.number("and should be a number"), v.minValue(0, "and should not be negative"));
const time = v.pipe(
  text,
  v.check((value) => !Number.isNaN(Date.parse(value)), "and should be a time as in 2026-01-31T12:00:00.000Z"),
  // In one form, because validities are compared as texts.
  v.transform((value) => new Date(value).toISOString()),
);
// Not narrowed further: a check reads the provider's JSON leniently, field by field.
const json = v.custom<JsonObject>(isJsonObject, "and should be an object");
const jsonList = v.array(json, "and should be a list");

const read = v.exactOptional(v.object({ request: text, at: time }));

function evidence<Value>(value: Schema<Value>): Schema<Evidence<Value>> {
  return v.variant(
    "state",
    [
      v.object({ state: v.literal("obtained"), value, read }),
      v.object({
        state: v.literal("missing"),
        reason: v.picklist(
          ["missing_scope", "missing_role", "not_available", "provider_error", "unreadable"],
          "and should be a known reason",
        ),
        detail: text,
        partial: v.nullable(value),
        read,
      }),
    ],
    'and should be evidence with the state "obtained" or "missing"',
  );
}

/** Not `v.record`, which leaves out ids such as `constructor` and `__proto__`: a provider may have those too. */
function byId<Value>(value: Schema<Value>): Schema<Readonly<Record<string, Value>>> {
  const each = v.rawTransform<JsonObject, Readonly<Record<string, Value>>>(({ dataset, addIssue, NEVER }) => {
    const entries: [string, Value][] = [];
    for (const [id, inner] of Object.entries(dataset.value)) {
      const result = v.safeParse(value, inner, { abortEarly: true });
      if (!result.success) {
        const [{ message, received, path = [] }] = result.issues;
        const step = { type: "object", origin: "value", input: { ...dataset.value }, key: id, value: inner } as const;
        addIssue({ message, received, path: [step, ...path] });
        return NEVER;
      }
      entries.push([id, result.output]);
    }
    return Object.fromEntries(entries);
  });
  return v.pipe(json, each);
}

const policiesWithRules = v.array(
  v.object({ policy: json, rules: v.nullable(evidence(jsonList)) }),
  "and should be a list",
);
const builtInApp = v.object({ app: v.nullable(json), rules: v.nullable(evidence(jsonList)) });
const ownerGroup = v.object({ id: text, name: text, roles: evidence(jsonList) });
const certificateFields = { subject: text, issuer: text, serial: text, sha256: text, valid_from: time, valid_to: time };
const certificate = v.object({ ...certificateFields, chain: v.array(v.object(certificateFields)), x5c: text });
const signInPage = v.object({
  kind: v.picklist(["customized", "default"]),
  content: v.unknown(),
  settings: v.exactOptional(json),
  is_stored: v.exactOptional(v.boolean("and should be true or false")),
});

const artifactSchemas: { readonly [Name in ArtifactName]: Schema<Artifacts[Name]> } = {
  global_session_policies: evidence(policiesWithRules),
  password_policies: evidence(jsonList),
  user_lifecycle_policies: evidence(policiesWithRules),
  automation_groups: evidence(jsonList),
  apps: evidence(jsonList),
  app_policy_rules: evidence(byId(evidence(jsonList))),
  access_policies: evidence(jsonList),
  admin_console_app: evidence(builtInApp),
  dashboard_app: evidence(builtInApp),
  admin_console_settings: evidence(json),
  authenticators: evidence(jsonList),
  brand_sign_in_pages: evidence(v.array(v.object({ brand: json, page: evidence(signInPage) }), "and should be a list")),
  network_zones: evidence(jsonList),
  api_tokens: evidence(jsonList),
  api_token_owners: evidence(
    byId(
      v.object({
        login: v.nullable(text),
        roles: evidence(jsonList),
        groups: v.nullable(evidence(v.array(ownerGroup, "and should be a list"))),
      }),
    ),
  ),
  built_in_groups: evidence(jsonList),
  log_streams: evidence(jsonList),
  saml_idps: evidence(jsonList),
  smart_card_idps: evidence(
    v.array(v.object({ idp: json, certificate: evidence(v.nullable(certificate)) }), "and should be a list"),
  ),
};

const documentSchema: Schema<ArtifactsDocument> = v.object({
  schema: v.literal(artifactsSchema),
  scan: v.object({
    org_url: v.pipe(text, v.url("and should be a URL")),
    client_id: text,
    engine: v.picklist(["identity", "classic", "unknown"], "and should be identity, classic or unknown"),
    started_at: time,
    ended_at: time,
    requested_scopes: texts,
    granted_scopes: texts,
    role: v.picklist(["super_admin", "read_only_admin", "unknown"], "and should be a known role"),
    requests: v.object({ total: count, retried: count, throttled_ms: count }),
  }),
  evaluated_at: time,
  checks: texts,
  artifacts: v.pipe(json, v.partial(v.object(artifactSchemas))),
});
