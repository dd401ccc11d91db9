import { firstRequestText, objectParts } from "../evidence/artifact_table.ts";
import type { ArtifactName, Artifacts, CollectedArtifacts } from "../evidence/artifacts.ts";
import type { Parameter, Setting } from "./parameter.ts";
import type { FindingDraft } from "./evaluating/finding_drafts.ts";
import type { OwnValues } from "../org_policy/document.ts";
import type { Engine } from "../../shared/report.ts";

/**
 * One check: a pure function of declared artifacts, named after what it examines.
 * It never fetches, waits, logs or reads a clock; `evaluate.ts` turns everything that it does into exactly one result.
 */
export interface Check {
  /** The public, snake_case name; the catalog has DISA's texts and ours under it. */
  readonly name: string;
  /** Artifacts that `evaluate` always needs. */
  readonly artifacts: readonly ArtifactName[];
  /** Artifacts that `evaluate` needs, too, by what the ones collected so far hold. It is called again until it names nothing new. */
  readonly conditionalArtifacts: (artifacts: CollectedArtifacts, values?: OwnValues) => readonly ArtifactName[];
  /** The values of its rule that an organization may set otherwise (`limits` of its document). */
  readonly parameters: readonly Parameter[];
  /** Null: more than one field decides. */
  readonly setting: Setting | null;
  /** The API fields that decide. */
  readonly decidingFields: readonly DecidingFields[];
  /** The part of the rule that the API never shows, in one sentence; null: none. */
  readonly leftToPerson: string | null;
  readonly evaluate: (artifacts: CollectedArtifacts, context: CheckContext) => readonly FindingDraft[];
}

export type DecidingFields = ReturnType<typeof decide>;

/** Input in addition to the artifacts; the same for every check of a scan. */
export interface CheckContext extends OwnValues {
  readonly engine: Engine;
  /** ISO 8601, UTC, saved with the artifacts: certificates have to be valid at this time. */
  readonly evaluatedAt: string;
}

/** The artifacts that a check declares. */
type Declared<Needed extends ArtifactName, Conditional extends ArtifactName> = Pick<Artifacts, Needed> &
  Pick<CollectedArtifacts, Conditional>;

/** A check as its file writes it; `evaluate` sees exactly the artifacts that it declares. */
interface CheckDefinition<Needed extends ArtifactName, Conditional extends ArtifactName>
  extends Pick<Check, "name" | "decidingFields">, Partial<Pick<Check, "parameters" | "setting" | "leftToPerson">> {
  readonly artifacts: readonly Needed[];
  readonly conditionalArtifacts?: (
    artifacts: Declared<Needed, Conditional>,
    values: OwnValues,
  ) => readonly Conditional[];
  readonly evaluate: (artifacts: Declared<Needed, Conditional>, context: CheckContext) => readonly FindingDraft[];
}

/** Returns the check, whose functions are called with every artifact that it always needs. */
export function defineCheck<Needed extends ArtifactName, Conditional extends ArtifactName = never>(
  definition: CheckDefinition<Needed, Conditional>,
): Check {
  const { setting = null, conditionalArtifacts = () => [], evaluate } = definition;
  return {
    parameters: typeof setting?.limit === "object" ? [setting.limit] : [],
    setting,
    leftToPerson: null,
    ...definition,
    conditionalArtifacts: (artifacts, values = {}) =>
      conditionalArtifacts(artifacts as Declared<Needed, Conditional>, values),
    evaluate: evaluate as Check["evaluate"],
  };
}

/**
 * The artifacts that a check reads: the ones it declares, and the ones that it asks for because of them, by the STIG's values and by
 * those of the organization's document.
 */
export function artifactsReadBy(
  check: Check,
  all: CollectedArtifacts,
  values: OwnValues = {},
): readonly ArtifactName[] {
  const names = new Set<ArtifactName>(check.artifacts);
  if (check.artifacts.some((name) => all[name] === undefined)) return [...names];
  try {
    // A conditional artifact may depend on the ones before.
    for (let size = 0; size < names.size;) {
      size = names.size;
      const read = Object.fromEntries([...names].map((name) => [name, all[name]]));
      for (const name of check.conditionalArtifacts(read, values)) names.add(name);
      for (const name of check.conditionalArtifacts(read, {})) names.add(name);
    }
  } catch {
    // Such evidence makes the check itself fail, whose result says so.
  }
  return [...names];
}

/**
 * Fields of an artifact's first request, or of the part of an object: paths in each object of the answer, as
 * `settings.password.age.historyCount`; `[]` follows the name of a list. `note`: an addition for people.
 */
export function decide(
  from: ArtifactName | keyof typeof objectParts,
  fields: readonly string[],
  note: string | null = null,
) {
  const request =
    from in objectParts
      ? `GET ${objectParts[from as keyof typeof objectParts].path}`
      : firstRequestText(from as ArtifactName);
  return { request, fields, note };
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
