import { shorten } from "../../shared/text.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { parseJsonText, type JsonTextOptions } from "../evidence/json_text.ts";

/** Bounds of a message: a file may hold a problem in every entry. */
const maxProblems = 10;
const maxProblemLength = 500;

/** Makes the error of a file that an option names: one line with its problems. */
export function refuseFile(option: string, file: string): (problems: readonly string[]) => UsageError {
  return (problems) => {
    const named = problems.slice(0, maxProblems).map((problem) => shorten(problem, maxProblemLength));
    if (problems.length > maxProblems) named.push(`and ${problems.length - maxProblems} more`);
    return new UsageError([`Cannot use ${option} ${JSON.stringify(file)}: ${named.join("; ")}`]);
  };
}

/** The JSON of such a file; throws what `fail` makes of its problem. */
export function parseOptionJson(
  text: string,
  bounds: JsonTextOptions,
  fail: (problems: readonly string[]) => Error,
): unknown {
  try {
    return parseJsonText(text, bounds);
  } catch (error) {
    if (error instanceof RangeError) throw fail([error.message]);
    throw fail([`it is not JSON: ${error instanceof Error ? error.message : "unreadable"}`]);
  }
}
