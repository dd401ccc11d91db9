import { integer, string, type Arbitrary, type StringConstraints } from "fast-check";

/** Any character of Unicode. `unit: "binary"` of fast-check is the same, and takes seconds for a table of them all. */
const character = integer({ min: 0, max: 0x10_f7_ff }).map((place) =>
  String.fromCodePoint(place < 0xd8_00 ? place : place + 0x8_00),
);

/** Text of any characters, control characters among them. */
export function anyText(constraints: Omit<StringConstraints, "unit"> = {}): Arbitrary<string> {
  return string({ ...constraints, unit: character });
}
