import type { ArtifactName, Artifacts, Evidence, JsonList } from "../artifacts.ts";
import type { IdpClient } from "../idp/idp_client.ts";

/** What a collector works with. Everything it obtains is fetched once for the whole scan. */
export interface CollectorContext {
  readonly client: IdpClient;
  readonly obtain: <Name extends ArtifactName>(name: Name) => Promise<Artifacts[Name]>;
  /** Whether an artifact is fetched in any case, so that what it holds need not be asked for again. */
  readonly isFetchedAnyway: (name: ArtifactName) => boolean;
  /** The rules of a policy; shared by all apps that are bound to it. */
  readonly policyRules: (policyId: string) => Promise<Evidence<JsonList>>;
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

/** The id as a path segment; null where there is none that a path could be made of. */
export function pathSegment(id: unknown): string | null {
  return typeof id === "string" && id !== "" ? encodeURIComponent(id) : null;
}
