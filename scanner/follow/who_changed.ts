import { memoize } from "../checks/evaluating/memoize.ts";
import { allZones } from "../checks/evaluating/zones.ts";
import { isJsonObject } from "../../shared/json.ts";
import type { FindingResource } from "../../shared/report.ts";
import type { ArtifactName, CollectedArtifacts } from "../evidence/artifacts.ts";
import { consoleSettings } from "../evidence/listed_objects.ts";
import { objectLists, type ObjectList } from "../evidence/org_objects.ts";
import { pairUp } from "../diff/compare_values.ts";
import { actedOn, type LogEvent, type Relevant } from "./log_event.ts";

/**
 * Tells whether one of the `touching` events is about what a finding's evidence names: its object, or the policy, rules, zones, groups and apps of
 * that object, before or after the change. Only then does the event name who changed the finding. Each object is read once, because one
 * act may move thousands of findings, a zone lists thousands of addresses, and hundreds of events may explain it.
 */
export function relateObjects(
  before: CollectedArtifacts,
  after: CollectedArtifacts,
  { needs, touching }: { readonly needs: readonly ArtifactName[]; readonly touching: readonly Relevant[] },
): (resource: FindingResource) => (event: LogEvent) => boolean {
  const listsOf = (artifacts: CollectedArtifacts) =>
    objectLists(Object.fromEntries(needs.map((name) => [name, artifacts[name]])));
  const [old, now] = [listsOf(before), listsOf(after)];
  const objects = [...old, ...now].flatMap((list) => list.objects);
  const byId = Map.groupBy(objects, ({ id }) => id);
  const byParent = Map.groupBy(objects, ({ parent }) => parent?.id ?? null);
  const targets = touching.flatMap(({ event }) => actedOn(event).map(({ id }) => id));
  const named = new Set([allZones, ...byId.keys(), ...byParent.keys(), ...targets]);
  const namedBy = memoize((id: string): readonly string[] => {
    const texts = (byId.get(id) ?? []).flatMap(({ value }) => textsIn(value));
    const parts = [...(byParent.get(id) ?? []), ...objects.filter(({ type }) => id === allZones && type === "zone")];
    return [...new Set([...texts.filter((text) => named.has(text)), ...parts.map((part) => part.id)])];
  });
  let changed: ReadonlySet<string> | null = null;

  return (resource) => {
    // A finding about the whole organization names no object: the ones that changed decide about it.
    const ids = resource.type === "org" ? (changed ??= changedIds(old, now)) : idsOf(resource);
    const isConsole = resource.id === consoleSettings.id;
    return (event) =>
      actedOn(event).some(({ id, name }) => ids.has(id) || (isConsole && name === consoleSettings.name));
  };

  function idsOf(resource: FindingResource): ReadonlySet<string> {
    const ids = new Set([resource.id]);
    // The loop also reaches what is added to the set on the way.
    for (const id of ids) for (const next of namedBy(id)) ids.add(next);
    return ids;
  }
}

/** Objects that differ between two states of lists that are whole in both, and the objects that they are parts of. */
function changedIds(before: readonly ObjectList[], after: readonly ObjectList[]): ReadonlySet<string> {
  const lists = pairUp(before, after, { idOf: ({ artifact, parent }) => JSON.stringify([artifact, parent?.id]) });
  const changed = lists.pairs.flatMap(([old, now]) => {
    if (old.state !== "obtained" || now.state !== "obtained") return [];
    const { pairs, removed, added } = pairUp(old.objects, now.objects, { idOf: ({ id }) => id });
    const moved = pairs.filter(([was, is]) => JSON.stringify(was.value) !== JSON.stringify(is.value));
    return [...removed, ...added, ...moved.map(([, is]) => is)];
  });
  return new Set(changed.flatMap(({ id, parent }) => [id, ...(parent === null ? [] : [parent.id])]));
}

/** Every text within a value, among which are the ids that it refers to; a link stands for the id at its end. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [/^https?:\/\//.test(value) ? value.slice(value.lastIndexOf("/") + 1) : value];
  if (!Array.isArray(value) && !isJsonObject(value)) return [];
  return Object.values(value).flatMap(textsIn);
}
