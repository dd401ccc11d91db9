const [, given] = /^FUZZ_SEED=(-?\d+)$/m.exec(`FUZZ_SEED=${process.env["FUZZ_SEED"] ?? ""}`) ?? [];

/** Another one with each run; `FUZZ_SEED=… npx vitest run test/fuzz` repeats a run. */
const seed = given === undefined ? Math.trunc(Math.random() * 2 ** 31) : Number(given);
console.info(`FUZZ_SEED=${seed}`);

/** How often a property is tried. A failure names the seed and the path to its smallest example. */
export function fuzzed(numRuns: number): { readonly numRuns: number; readonly seed: number } {
  return { numRuns, seed };
}
