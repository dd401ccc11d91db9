import { memoize } from "../../checks/evaluating/memoize.ts";
import { isUsableId } from "../../checks/parsing/names.ts";
import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { missing, type ArtifactName, type Artifacts, type Evidence, type JsonList } from "../artifacts.ts";
import type { IdpClient, Reading } from "../../okta/idp_client.ts";

/** Context of a collector. Each artifact is fetched once for the whole scan. */
export interface CollectorContext {
  readonly client: IdpClient;
  readonly obtain: <Name extends ArtifactName>(name: Name) => Promise<Artifacts[Name]>;
  /** True when an artifact is fetched in any case, so that its content need not be requested separately. */
  readonly isRequested: (name: ArtifactName) => boolean;
  /** The rules of a policy; shared by all apps that are bound to it. */
  readonly policyRules: (policyId: unknown) => Promise<Evidence<JsonList>>;
}

export type Collector<Name extends ArtifactName> = (context: CollectorContext) => Promise<Artifacts[Name]>;

export type Collectors = { readonly [Name in ArtifactName]?: Collector<Name> };

/**
 * The evidence with `make` applied to its value; missing evidence keeps its reason. It is without the HTTP status of a refusal, which is
 * for collectors.
 */
export async function mapEvidence<Value, Made>(
  reading: Reading<Value>,
  make: (value: Value) => Promise<Made> | Made,
): Promise<Evidence<Made>> {
  if (reading.state === "obtained") return { state: "obtained", value: await make(reading.value) };
  const { reason, detail, partial } = reading;
  return { state: "missing", reason, detail, partial: partial === null ? null : await make(partial) };
}

/** The same for each entry of a list, at once. */
export function mapEntries<Made>(
  list: Reading<JsonList>,
  make: (entry: JsonObject) => Promise<Made>,
): Promise<Evidence<readonly Made[]>> {
  return mapEvidence(list, (found) => Promise.all(found.map(make)));
}

export function evidenceOf<Value>(reading: Reading<Value>): Promise<Evidence<Value>> {
  return mapEvidence(reading, (value) => value);
}

/** Reads a list that belongs to an id, once for each id, however many objects name it. */
export function listReader(
  ofWhat: string,
  read: (segment: string) => Promise<Reading<JsonList>>,
): (id: unknown) => Promise<Evidence<JsonList>> {
  return memoize(async (id: unknown): Promise<Evidence<JsonList>> => {
    const segment = pathSegment(id);
    if (segment !== null) return evidenceOf(await read(segment));
    return missing("unreadable", `${ofWhat} could not be asked for.`);
  });
}

/** An id as one segment of a request's path; null for what is no id, and for dots that would lead to another path. Never throws. */
export function pathSegment(id: unknown): string | null {
  if (!isUsableId(id) || id === "." || id === "..") return null;
  return encodeURIComponent(id);
}

/**
 * Keeps the named fields of each entry of a list, `settings.host` for a part of one. The fields that nothing reads are most of the memory of a large org, and some (links, client secrets) must not be saved. A check that reads a field
 * which is not kept fails `test/scanner/evidence/kept_fields.test.ts`.
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
      // A value of another shape than expected is kept: whether it is readable is for a check to decide.
      kept[field] = keep !== null && isJsonObject(value) ? keep(value) : value;
    }
    return kept;
  };
}
