import type { IdpRequest } from "../okta/idp_client.ts";
import { artifactTable } from "./artifact_table.ts";
import type { ArtifactName } from "./artifacts.ts";

/** The requests that an artifact is read with, for people: `GET /api/v1/policies/{id}/rules`. */
export function requestsText(name: ArtifactName): string {
  const { request, parts = [], partsOf } = artifactTable[name];
  const first = request === null ? [] : [decodeURIComponent(request.path.replace(/[?&]limit=\d+/, ""))];
  const others = partsOf === undefined ? [] : (artifactTable[partsOf].parts ?? []);
  return [...first, ...parts, ...others].map((path) => `GET ${path}`).join(", ");
}

/**
 * The requests that the collectors of a set of artifacts begin with: the probe makes one of them and the collector gets its answer, so
 * that the probe costs nothing.
 */
export function firstRequests(artifacts: Iterable<ArtifactName>): readonly IdpRequest[] {
  const wanted = new Set(artifacts);
  // With the whole list the built-in apps are looked up in it, and not requested.
  const isListed = wanted.has("apps");
  return (Object.keys(artifactTable) as ArtifactName[])
    .filter((name) => wanted.has(name) && !(isListed && artifactTable[name].partsOf === "app_policy_rules"))
    .flatMap((name) => artifactTable[name].request ?? []);
}
