import { compareTexts, pairUp } from "./pairs.ts";
import type { Diff, ObjectChange } from "../../shared/schemas/diff.ts";
import { shorten } from "../../shared/text.ts";
import type { CatalogCheck } from "../catalog/catalog.ts";
import type { EvaluationContext } from "../evaluate.ts";
import type { CollectedArtifacts } from "../evidence/artifacts.ts";
import { objectLists, type ObjectList, type OrgObject } from "../evidence/org_objects.ts";
import { compareObjects, type ValueChange } from "./compare_values.ts";
import { recordReads } from "./recorded_reads.ts";

export interface ConfigurationSide {
  readonly artifacts: CollectedArtifacts;
  readonly context: EvaluationContext;
}

export interface ConfigurationComparison {
  readonly objects: readonly ObjectChange[];
  readonly evidence: Diff["evidence"];
}

/** The objects that were added, removed or changed, with the checks that read what changed. */
export function compareConfiguration(
  before: ConfigurationSide,
  after: ConfigurationSide,
  checks: readonly CatalogCheck[],
): ConfigurationComparison {
  const { pairs } = pairUp(objectLists(before.artifacts), objectLists(after.artifacts), {
    idOf: ({ artifact, parent }) => (parent === null ? artifact : `${artifact}/${parent.id}`),
    nameOf: listName,
  });
  const differences = pairs.flatMap(([old, now]) => compareLists(old, now));
  const readersOf = createReaders(differences, [before, after], checks);
  const objects = differences.map((difference) => toObjectChange(difference, readersOf));
  return {
    objects: mergeSame(objects, checks).sort(byTypeAndName),
    evidence: pairs
      .map(([old, now]) => ({ artifact: listName(now), before: old.state, after: now.state }))
      .filter(({ before: old, after: now }) => !(old === now && (old === "obtained" || old === "not_collected"))),
  };
}

function listName({ artifact, parent }: ObjectList): string {
  return parent === null ? artifact : `${artifact}/${parent.name}`;
}

interface Difference {
  readonly before: OrgObject | null;
  readonly after: OrgObject | null;
  /** Empty for an object that was added or removed. */
  readonly changes: readonly ValueChange[];
}

function compareLists(old: ObjectList, now: ObjectList): readonly Difference[] {
  // Objects of a list that was not obtained as a whole are not gone, and not new.
  if (old.state !== "obtained" || now.state !== "obtained") return [];
  const { pairs, removed, added } = pairUp(old.objects, now.objects, {
    idOf: ({ type, id }) => JSON.stringify([type, id]),
    nameOf: ({ type, name }) => JSON.stringify([type, name]),
  });
  return [
    ...added.map((after) => ({ before: null, after, changes: [] })),
    ...removed.map((before) => ({ before, after: null, changes: [] })),
    ...pairs
      .map(([before, after]) => ({ before, after, changes: compareObjects(before.value, after.value) }))
      .filter(({ changes }) => changes.length > 0),
  ];
}

/** The checks that read something of an object, or one field of it, on either side. */
type Readers = (difference: Difference, fields: readonly string[] | null) => readonly string[];

function createReaders(
  differences: readonly Difference[],
  sides: readonly [before: ConfigurationSide, after: ConfigurationSide],
  checks: readonly CatalogCheck[],
): Readers {
  const valuesOf = (side: "before" | "after") =>
    new Set<object>(differences.map((each) => each[side]?.value).filter((value) => value !== undefined));
  const before = recordReads(valuesOf("before"), sides[0].artifacts, { checks, context: sides[0].context });
  const after = recordReads(valuesOf("after"), sides[1].artifacts, { checks, context: sides[1].context });
  return (difference, fields) => {
    const names = new Set([...before(difference.before?.value, fields), ...after(difference.after?.value, fields)]);
    return checks.map(({ name }) => name).filter((name) => names.has(name));
  };
}

function toObjectChange(difference: Difference, readersOf: Readers): ObjectChange {
  const { before, after, changes } = difference;
  const object = after ?? before;
  if (object === null) throw new TypeError("Cannot compare objects: none exists before nor after");
  const { type, id, parent } = object;
  const name = type === "policy_rule" && parent !== null ? `${parent.name} / ${object.name}` : object.name;
  const fields = changes.map(({ path, fields: names, from, to }) => ({
    path,
    from: toShown(from),
    to: toShown(to),
    checks: readersOf(difference, names),
  }));
  const change = before === null ? "added" : after === null ? "removed" : "changed";
  const checks =
    change === "changed" ? [...new Set(fields.flatMap((field) => field.checks))] : readersOf(difference, null);
  return { change, type, id, name, checks, fields };
}

/** An app stands in several artifacts, and so do the rules of its policy: each change once, with the readers of all. */
function mergeSame(objects: readonly ObjectChange[], checks: readonly CatalogCheck[]): ObjectChange[] {
  const key = ({ change, type, id, fields }: ObjectChange) =>
    JSON.stringify([change, type, id, fields.map(({ path, from, to }) => [path, from, to])]);
  return [...Map.groupBy(objects, key).values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const all = [first, ...others];
    const union = (lists: readonly (readonly string[])[]) => {
      const names = new Set(lists.flat());
      return checks.map(({ name }) => name).filter((name) => names.has(name));
    };
    const fields = first.fields.map((field, index) => ({
      ...field,
      checks: union(all.map((object) => object.fields[index]?.checks ?? [])),
    }));
    return [{ ...first, checks: union(all.map((object) => object.checks)), fields }];
  });
}

/** Longer than any setting; of a sign-in page it is the beginning. */
const maxTextLength = 4000;

function toShown(value: unknown): unknown {
  return typeof value === "string" ? shorten(value, maxTextLength) : value;
}

function byTypeAndName(one: ObjectChange, other: ObjectChange): number {
  return compareTexts(one.type, other.type) || compareTexts(one.name, other.name) || compareTexts(one.id, other.id);
}
