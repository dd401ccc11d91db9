const given = process.env["FUZZ_SEED"] ?? "";

/**
 * The same one with each run, so that a change does not fail by an example that it did not cause. To look for new
 * examples: `FUZZ_SEED=random npx vitest run test/fuzz`, which prints the seed; that number repeats the run.
 */
const seed =
  given === "random" ? Math.trunc(Math.random() * 2 ** 31) : /^-?\d+$/.test(given) ? Number(given) : 20_261_121;
console.info(`FUZZ_SEED=${seed}`);

/** How often a property is tried. A failure names the seed and the path to its smallest example. */
export function fuzzed(numRuns: number): { readonly numRuns: number; readonly seed: number } {
  return { numRuns, seed };
}
