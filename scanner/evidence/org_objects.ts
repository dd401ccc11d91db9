import { availableValue, type ArtifactName, type CollectedArtifacts, type Evidence } from "./artifacts.ts";
import { artifactTable } from "./artifact_table.ts";
import { stateOf, topLevel, type ListedObject, type ListedObjects, type Parent } from "./listed_objects.ts";

/** An object of the org, with the artifact that holds it. */
export interface OrgObject extends ListedObject {
  readonly artifact: ArtifactName;
  /** The object that it is a part of, as a rule is of its policy; null: none. */
  readonly parent: Parent | null;
}

/** Objects that were obtained together. The state is `not_collected` as well. */
export interface ObjectList extends ListedObjects {
  readonly artifact: ArtifactName;
  readonly objects: readonly OrgObject[];
}

/** Every object in the evidence, list by list. An object that several artifacts hold is in a list of each. */
export function objectLists(artifacts: CollectedArtifacts): readonly ObjectList[] {
  return (Object.keys(artifactTable) as ArtifactName[]).flatMap((artifact) =>
    listsOf(artifact, artifacts[artifact]).map((list) => {
      const objects = list.objects.map((object) => ({ ...object, artifact, parent: list.parent }));
      return { ...list, artifact, objects };
    }),
  );
}

function listsOf(artifact: ArtifactName, evidence: Evidence<unknown> | undefined): readonly ListedObjects[] {
  if (evidence === undefined) return [topLevel([], "not_collected")];
  const list = artifactTable[artifact].objects as (value: unknown) => readonly ListedObjects[];
  const value = availableValue(evidence);
  const [top = topLevel([]), ...parts] = value === null ? [] : list(value);
  return [evidence.state === "obtained" ? top : { ...top, state: stateOf(evidence) }, ...parts];
}
