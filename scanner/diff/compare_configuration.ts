import type { ObjectChange } from "./diff_schema.ts";
import { shorten } from "../../shared/text.ts";
import type { CatalogCheck } from "../catalog/catalog.ts";
import type { ArtifactName, CollectedArtifacts } from "../evidence/artifacts.ts";
import { artifactsReadBy } from "../checks/check.ts";
import type { OwnValues } from "../org_policy/document.ts";
import { objectLists, type ObjectList, type OrgObject } from "../evidence/org_objects.ts";
import { sortBy } from "../checks/parsing/names.ts";
import { compareObjects, pairUp } from "./compare_values.ts";

type Sides = readonly [before: CollectedArtifacts, after: CollectedArtifacts];

/** The objects that were added, removed or changed, each with the checks that examine its artifact. */
export function compareConfiguration(sides: Sides, checks: readonly CatalogCheck[], values: OwnValues) {
  const [before, after] = sides;
  const { pairs } = pairUp(objectLists(before), objectLists(after), {
    idOf: ({ artifact, parent }) => (parent === null ? artifact : `${artifact}/${parent.id}`),
    nameOf: listName,
  });
  const needs = checks.map((check) => ({
    name: check.name,
    artifacts: new Set(sides.flatMap((artifacts) => artifactsReadBy(check, artifacts, values))),
  }));
  const examining = (artifacts: readonly ArtifactName[]) =>
    needs.filter((need) => artifacts.some((name) => need.artifacts.has(name))).map(({ name }) => name);
  // The rules of an app's policy are listed below its id.
  const names = new Map(pairs.flatMap(([, { objects }]) => objects.map(({ id, name }) => [id, name])));
  // An app stands in several artifacts, and so do the rules of its policy: each change once.
  const found = Map.groupBy(
    pairs.flatMap(([old, now]) => compareLists(old, now)),
    ({ artifact: _artifact, parent: _parent, ...change }) => JSON.stringify(change),
  );
  return {
    objects: sortBy(
      [...found.values()].flatMap(([first, ...others]) => {
        if (first === undefined) return [];
        const { artifact, parent, ...change } = first;
        const isRule = change.type === "policy_rule" && parent !== null;
        const name = isRule ? `${names.get(parent.id) ?? parent.name} / ${change.name}` : change.name;
        return { ...change, name, checks: examining([artifact, ...others.map((other) => other.artifact)]) };
      }),
      ({ type, name, id }) => [type, name, id].join("\0"),
    ),
    evidence: pairs
      .map(([old, now]) => ({ artifact: listName(now), before: old.state, after: now.state }))
      .filter(({ before: old, after: now }) => !(old === now && (old === "obtained" || old === "not_collected"))),
  };
}

function listName({ artifact, parent }: ObjectList): string {
  return parent === null ? artifact : `${artifact}/${parent.name}`;
}

type FoundChange = Omit<ObjectChange, "checks"> & Pick<OrgObject, "artifact" | "parent">;

function compareLists(old: ObjectList, now: ObjectList): readonly FoundChange[] {
  // Objects of a list that was not obtained as a whole are not gone, and not new.
  if (old.state !== "obtained" || now.state !== "obtained") return [];
  const { pairs, removed, added } = pairUp(old.objects, now.objects, {
    idOf: ({ type, id }) => JSON.stringify([type, id]),
    nameOf: ({ type, name }) => JSON.stringify([type, name]),
  });
  return [
    ...added.map((object) => toChange("added", object)),
    ...removed.map((object) => toChange("removed", object)),
    ...pairs
      .map(([before, after]) => toChange("changed", after, compareObjects(before.value, after.value)))
      .filter(({ fields }) => fields.length > 0),
  ];
}

/** Longer than any setting; of a sign-in page it is the beginning. */
const maxTextLength = 4000;

function toChange(
  change: ObjectChange["change"],
  { artifact, type, id, name, parent }: OrgObject,
  fields: ObjectChange["fields"] = [],
): FoundChange {
  const toShown = (value: unknown) => (typeof value === "string" ? shorten(value, maxTextLength) : value);
  return {
    artifact,
    parent,
    change,
    type,
    id,
    name,
    fields: fields.map(({ path, from, to }) => ({ path, from: toShown(from), to: toShown(to) })),
  };
}
