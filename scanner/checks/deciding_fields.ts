import { objectParts, requestsText } from "../evidence/artifact_table.ts";
import type { ArtifactName } from "../evidence/artifacts.ts";
import type { DecidingFields } from "./check.ts";

/** Fields of an artifact's first request, or of the part of an object. */
export function decide(
  from: ArtifactName | keyof typeof objectParts,
  fields: readonly string[],
  note: string | null = null,
): DecidingFields {
  const request =
    from in objectParts
      ? `GET ${objectParts[from as keyof typeof objectParts].path}`
      : firstRequestText(from as ArtifactName);
  return { request, fields, note };
}

/** The request that an artifact begins with, for people. */
export function firstRequestText(artifact: ArtifactName): string {
  return requestsText(artifact).split(", ", 1)[0] ?? artifact;
}

/** One line: the request, its fields, and the note. */
export function fieldsText({ request, fields, note }: DecidingFields): string {
  return `${request}: ${fields.join(", ")}${note === null ? "" : ` (${note})`}`;
}

export const networkFields = ["connection", "include", "exclude"].map((name) => `conditions.network.${name}`);
export const rulesForEverybody = decide("policyRules", ["conditions"], "whether the rule is for everybody");
export const everyoneGroup = decide(
  "built_in_groups",
  ["type", "profile.name"],
  "which group is Everyone, where a rule names groups",
);
export const zoneFields = decide(
  "network_zones",
  ["id", "name", "status", "usage", "type", "gateways"],
  "and what a dynamic zone lists",
);
