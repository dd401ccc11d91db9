import { availableValue, type ArtifactName, type CollectedArtifacts, type Evidence } from "./artifacts.ts";
import { artifactTable } from "./artifact_table.ts";
import { stateOf, type ListedObject, type ListedObjects, type Parent } from "./listed_objects.ts";

/** An object of the org, with the artifact that holds it. */
export interface OrgObject extends ListedObject {
  readonly artifact: ArtifactName;
  /** The object that it is a part of, as a rule is of its policy; null: none. */
  readonly parent: Parent | null;
}

/** Objects that were obtained together: an artifact's list, or the rules of one policy. */
export interface ObjectList {
  readonly artifact: ArtifactName;
  readonly parent: Parent | null;
  /** `obtained`, `not_collected`, or the reason why the list is not whole: `objects` are those that arrived. */
  readonly state: string;
  readonly objects: readonly OrgObject[];
}

/** Every object in the evidence, list by list. An object that several artifacts hold is in a list of each. */
export function objectLists(artifacts: CollectedArtifacts): readonly ObjectList[] {
  return (Object.keys(artifactTable) as ArtifactName[]).flatMap((artifact) => {
    const evidence: Evidence<unknown> | undefined = artifacts[artifact];
    if (evidence === undefined) return [{ artifact, parent: null, state: "not_collected", objects: [] }];
    const list = artifactTable[artifact].objects as (value: unknown) => ListedObjects;
    const value = availableValue(evidence);
    const { objects, inner = [], state = "obtained" } = value === null ? { objects: [] } : list(value);
    const whole = { parent: null, state: evidence.state === "obtained" ? state : stateOf(evidence), objects };
    return [whole, ...inner].map((one) => ({
      ...one,
      artifact,
      objects: one.objects.map((object) => ({ ...object, artifact, parent: one.parent })),
    }));
  });
}
