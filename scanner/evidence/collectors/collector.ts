import {
  isJsonObject,
  type ArtifactName,
  type Artifacts,
  type Evidence,
  type JsonList,
  type JsonObject,
} from "../artifacts.ts";
import type { IdpClient, Reading } from "../../idp/idp_client.ts";

/** What a collector works with. Everything it obtains is fetched once for the whole scan. */
export interface CollectorContext {
  readonly client: IdpClient;
  readonly obtain: <Name extends ArtifactName>(name: Name) => Promise<Artifacts[Name]>;
  /** Whether an artifact is fetched in any case, so that what it holds need not be asked for again. */
  readonly isRequested: (name: ArtifactName) => boolean;
  /** The rules of a policy; shared by all apps that are bound to it. */
  readonly policyRules: (policyId: unknown) => Promise<Evidence<JsonList>>;
}

export type Collector<Name extends ArtifactName> = (context: CollectorContext) => Promise<Artifacts[Name]>;

/** The same evidence about something made from its value; what is missing stays missing, for the same reason. */
export async function mapEvidence<Value, Made>(
  evidence: Evidence<Value>,
  make: (value: Value) => Promise<Made> | Made,
): Promise<Evidence<Made>> {
  if (evidence.state === "obtained") return { state: "obtained", value: await make(evidence.value) };
  const { reason, detail, partial } = evidence;
  return { state: "missing", reason, detail, partial: partial === null ? null : await make(partial) };
}

/**
 * An id as one segment of a request's path; null for what is none: no text, empty or longer than any id, dots that would
 * lead to another path, and text with blanks or characters that nothing shows, as ids have that were changed where they
 * entered (`idp/provider_text.ts`). Never throws.
 */
export function pathSegment(id: unknown): string | null {
  if (typeof id !== "string" || !idShape.test(id) || id === "." || id === "..") return null;
  return encodeURIComponent(id);
}

// Lone surrogates are of the category C too.
const idShape = /^[^\s\p{C}\uFFFD]{1,200}$/u;

/**
 * What is kept of each entry of a list: the named fields alone, `settings.compliance` for a part of one. What no check
 * reads is most of the memory of a large org, and some of it (links, client secrets) has no place in a saved file.
 */
export function keeping(paths: readonly string[]): (entry: JsonObject) => JsonObject {
  const inner = new Map<string, string[]>();
  for (const path of paths) {
    const [field = "", ...rest] = path.split(".");
    const deeper = inner.get(field) ?? [];
    inner.set(field, rest.length === 0 ? deeper : [...deeper, rest.join(".")]);
  }
  const fields = [...inner].map(([field, deeper]) => ({ field, keep: deeper.length === 0 ? null : keeping(deeper) }));
  return (entry) => {
    const kept: Record<string, unknown> = {};
    for (const { field, keep } of fields) {
      if (!Object.hasOwn(entry, field)) continue;
      const value = entry[field];
      // What has another shape than expected is kept as it is: whether it can be read is for a check to say.
      kept[field] = keep !== null && isJsonObject(value) ? keep(value) : value;
    }
    return kept;
  };
}

/** A reading as it is kept: the HTTP status of a refusal is for collectors, the artifact has its reason and detail. */
export function evidenceOf<Value>(reading: Reading<Value>): Evidence<Value> {
  if (reading.state === "obtained") return { state: "obtained", value: reading.value };
  const { reason, detail, partial } = reading;
  return { state: "missing", reason, detail, partial };
}
