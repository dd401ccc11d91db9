import { findNodeAtLocation, parseTree, type JSONPath, type Node } from "jsonc-parser";
import type * as v from "valibot";
import { stampOf, type NamedFile } from "../../command_line/files.ts";

/** Finds `line 3: ` of a member by its path, or of what encloses a missing one; an empty text when the file has neither. */
export function lineFinder(text: string): (path: JSONPath) => string {
  let root: Node | undefined;
  // A file of megabytes may hold a problem in each of ten thousand entries: lines are counted once.
  let lineEnds: readonly number[] = [];
  return (path) => {
    if (root === undefined) {
      root = parseTree(text);
      lineEnds = Array.from(text.matchAll(/\n/g), ({ index }) => index);
    }
    if (root === undefined) return "";
    for (let length = path.length; length > 0; length -= 1) {
      const node = findNodeAtLocation(root, path.slice(0, length));
      if (node === undefined) continue;
      const { offset } = node.parent?.type === "property" ? node.parent : node;
      return `line ${countUpTo(lineEnds, offset) + 1}: `;
    }
    return "";
  };
}

/** How many of the sorted numbers are not greater, in steps that a file of a million lines and problems still takes quickly. */
function countUpTo(sorted: readonly number[], most: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) > most) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Path of a schema's complaint. */
export function issuePath(issue: v.BaseIssue<unknown>): JSONPath {
  return (issue.path ?? []).map(({ key }) => key as string | number);
}

/** `apps[3].zones_allowed[0]`. */
export function placeOf(path: JSONPath): string {
  return path.map((key, index) => (typeof key === "number" ? `[${key}]` : index === 0 ? key : `.${key}`)).join("");
}

/**
 * Keeps what a file says while it may change. A file that cannot be used any more is said once for each content. Without a file,
 * and of a pipe, which can be read once, the value stays. Rejects where the file cannot be read at first.
 */
export async function followFile<Value>(
  source: NamedFile | null,
  read: () => Promise<Value>,
  sayKept: (problem: string) => void,
) {
  const stampNow = async () => (source === null ? null : stampOf(source.file));
  // Noted before it is read, so that a change in between is seen.
  let stamp = await stampNow();
  let value = await read();
  return {
    current: () => value,
    /** Reads the file again where it changed. What cannot be used leaves the old value in force. */
    async refresh(): Promise<void> {
      const now = await stampNow();
      if (now === stamp) return;
      stamp = now;
      try {
        value = await read();
      } catch (error) {
        sayKept(error instanceof Error ? error.message : String(error));
      }
    },
  };
}
