/** One small mistake that somebody could make in the code, and the test that has to see it. */
export interface Mutation {
  /** The mistake in words, as a reviewer would put it. */
  readonly mistake: string;
  /**
   * What would be broken: `S1` to `S9` and `V1` to `V6` of the promises, a threat of `docs/threat_model.md` or a fault of
   * `docs/reliability.md`, each by the first cell of its row.
   */
  readonly holds: readonly string[];
  readonly file: string;
  /** Occurs exactly once in `file`. */
  readonly find: string;
  readonly replace: string;
  /** Where the test stands. */
  readonly testFile: string;
  /** The file to run when the test stands in a suite that other files run. */
  readonly via?: string;
  /** The beginning of the test's title, as it stands in the source. */
  readonly test: string;
}

/** The file that vitest is given. */
export function fileToRun({ testFile, via }: Mutation): string {
  return via ?? testFile;
}

/** For `-t`: the title of the source with anything in place of what `test.each` and templates fill in. */
export function namePattern(title: string): string {
  const pieces = title.split(/%[sdifjopc$#%]|\$\{[^}]*\}|\$[\w.]+/);
  return pieces.map((piece) => piece.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("[^]*");
}

/** The code with the mistake in it. Throws when what is to be replaced does not occur exactly once. */
export function mutate(source: string, { file, find, replace }: Mutation): string {
  const [before = "", after, ...more] = source.split(find);
  if (after === undefined) throw new Error(`Cannot mutate ${file}: ${JSON.stringify(find)} does not occur in it`);
  if (more.length > 0) throw new Error(`Cannot mutate ${file}: ${JSON.stringify(find)} occurs more than once`);
  return before + replace + after;
}
