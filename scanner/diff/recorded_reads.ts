import { evaluateCheck, type EvaluationContext } from "../evaluate.ts";
import type { CatalogCheck } from "../catalog/catalog.ts";
import type { CollectedArtifacts } from "../evidence/artifacts.ts";

/**
 * The names of the checks that read a field of an object, or something within it; null: that read anything of the object.
 * An object that was not watched has none.
 */
export type RecordedReads = (object: object | undefined, fields: readonly string[] | null) => Iterable<string>;

/** Evaluates the checks with some objects watched. */
export function recordReads(
  objects: ReadonlySet<object>,
  artifacts: CollectedArtifacts,
  { checks, context }: { readonly checks: readonly CatalogCheck[]; readonly context: EvaluationContext },
): RecordedReads {
  /** By object: the path of each field that was read, with the checks that read it. */
  const reads = new Map<object, Map<string, Set<string>>>();
  let reader = "";

  const record = (object: object, path: string) => {
    const ofObject = reads.get(object) ?? new Map<string, Set<string>>();
    reads.set(object, ofObject);
    ofObject.set(path, (ofObject.get(path) ?? new Set()).add(reader));
  };

  const watch = (root: object, value: unknown, path: string): unknown => {
    if (typeof value !== "object" || value === null) return value;
    const see = (field: string | symbol) => {
      // An entry of a list belongs to the list.
      if (typeof field === "string" && !Array.isArray(value)) record(root, joinPath(path, field));
    };
    return new Proxy(value, {
      get(target, field) {
        see(field);
        const inner: unknown = Reflect.get(target, field);
        if (typeof field !== "string" || typeof inner === "function") return inner;
        return watch(root, inner, Array.isArray(value) ? path : joinPath(path, field));
      },
      getOwnPropertyDescriptor(target, field) {
        see(field);
        return Reflect.getOwnPropertyDescriptor(target, field);
      },
    });
  };

  const replace = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (objects.has(value)) return watch(value, value, "");
    if (Array.isArray(value)) return value.map(replace);
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, replace(inner)]));
  };

  const watched = replace(artifacts) as CollectedArtifacts;
  for (const check of checks) {
    reader = check.name;
    evaluateCheck(check, watched, context);
  }
  return (object, fields) => {
    const found = [...((object === undefined ? undefined : reads.get(object)) ?? [])];
    const path = fields?.join(".") ?? null;
    return found
      .filter(([read]) => path === null || read === path || read.startsWith(`${path}.`))
      .flatMap(([, names]) => [...names]);
  };
}

function joinPath(path: string, field: string): string {
  return path === "" ? field : `${path}.${field}`;
}
