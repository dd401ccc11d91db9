import * as v from "valibot";
import { ContentError } from "../../shared/usage_error.ts";
import { collectedArtifacts, listOf, text, time } from "./artifacts.ts";
import { isJsonObject } from "../../shared/json.ts";
import { parseJsonText } from "./json_text.ts";

export const artifactsSchema = "scanstream.artifacts/1.1";

/** The evidence of an org with tens of thousands of apps. */
export const maxArtifactsBytes = 256 * 1_048_576;

/** Document that `--save-artifacts` writes and `--from-artifacts` reads: everything that evaluation needs, and no secret. */
export interface ArtifactsDocument extends Readonly<v.InferOutput<typeof documentSchema>> {}

/** The facts of a scan before evaluation. */
export type CollectedScan = ArtifactsDocument["scan"];

/** Reads a saved file. Throws `ContentError`. */
export function parseArtifacts(text: string): ArtifactsDocument {
  const json = parseJsonText(text);
  const schema = isJsonObject(json) ? json["schema"] : undefined;
  if (schema !== artifactsSchema) {
    const found = typeof schema === "string" ? `its schema is "${schema.slice(0, 60)}"` : "it names no schema";
    throw new ContentError([`${found}; expected "${artifactsSchema}", a file of --save-artifacts`]);
  }
  const result = v.safeParse(documentSchema, json, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  const where = v.getDotPath(issue) ?? "the document";
  throw new ContentError([`"${where}" is ${issue.received.slice(0, 60)}, ${issue.message}`]);
}

const texts = listOf(text);
const count = v.pipe(v.number("and should be a number"), v.minValue(0, "and should not be negative"));

const documentSchema = v.object({
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
  /** Certificates have to be valid at this time, so that the same file gives the same findings later. */
  evaluated_at: time,
  checks: texts,
  artifacts: collectedArtifacts,
});
