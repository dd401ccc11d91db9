import { array, constantFrom, nat, oneof, tuple, type Arbitrary } from "fast-check";
import { anyText } from "../support/any_text.ts";

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
