import {
  array,
  constantFrom,
  integer,
  nat,
  oneof,
  string,
  tuple,
  type Arbitrary,
  type StringConstraints,
} from "fast-check";

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

/** Text with some of it changed, cut out or put in. */
export function mutated(text: Arbitrary<string>): Arbitrary<string> {
  const piece = oneof(anyText({ maxLength: 4 }), constantFrom('"', "{", "}", "\\", "\n", "\r", "\0", ","));
  return tuple(text, array(tuple(nat(), nat(4), piece), { minLength: 1, maxLength: 3 })).map(([whole, edits]) =>
    edits.reduce((current, [at, length, put]) => {
      const from = at % (current.length + 1);
      return current.slice(0, from) + put + current.slice(from + length);
    }, whole),
  );
}

/** Any character of Unicode. `unit: "binary"` of fast-check is the same, and takes seconds for a table of them all. */
const character = integer({ min: 0, max: 0x10_f7_ff }).map((place) =>
  String.fromCodePoint(place < 0xd8_00 ? place : place + 0x8_00),
);

/** Text of any characters, control characters among them. */
export function anyText(constraints: Omit<StringConstraints, "unit"> = {}): Arbitrary<string> {
  return string({ ...constraints, unit: character });
}
