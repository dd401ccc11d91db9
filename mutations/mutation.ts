/** One small mistake that a developer could make in the code, and the test that must fail because of it. */
export interface Mutation {
  /** The mistake in words, as a reviewer would put it. */
  readonly mistake: string;
  /**
   * What it breaks: `S1` to `S9` and `V1` to `V6` of the promises, a threat of `docs/threat_model.md` or a fault of
   * `docs/reliability.md`, each by the first cell of its row.
   */
  readonly holds: readonly string[];
  readonly file: string;
  /** Occurs exactly once in `file`. */
  readonly find: string;
  readonly replace: string;
  readonly testFile: string;
  /** The file to run when the test is in a suite that other files run. */
  readonly via?: string;
  /** The beginning of the test's title, as in the source. */
  readonly test: string;
}

/** The file that vitest is given. */
export function fileToRun({ testFile, via }: Mutation): string {
  return via ?? testFile;
}

/** For `-t`: matches the title, with anything in place of what `test.each` and templates fill in. */
export function namePattern(title: string): string {
  const pieces = title.split(/%[sdifjopc$#%]|\$\{[^}]*\}|\$[\w.]+/);
  return pieces.map((piece) => piece.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("[^]*");
}

/** The code with the mistake in it. Throws when `find` does not occur exactly once. */
export function mutate(source: string, { file, find, replace }: Mutation): string {
  const [before = "", after, ...more] = source.split(find);
  if (after === undefined) throw new Error(`Cannot mutate ${file}: ${JSON.stringify(find)} does not occur in it`);
  if (more.length > 0) throw new Error(`Cannot mutate ${file}: ${JSON.stringify(find)} occurs more than once`);
  return before + replace + after;
}
