import * as v from "valibot";

/** A schema's complaint about a file as a sentence that begins with the place. */
export function issueText(issue: v.BaseIssue<unknown>, place = v.getDotPath(issue) ?? "the file"): string {
  return `${place}: ${issueProblem(issue)}`;
}

/** The complaint alone; of a long value only the beginning is quoted. */
export function issueProblem({ expected, received, message }: v.BaseIssue<unknown>): string {
  if (expected === "never") return "is not a known field";
  if (received === "undefined" && message.startsWith("Invalid ")) return "is required";
  const said = message.replace(/^Invalid [^:]+: Expected (.+) but received (.{1,80}).*$/s, "expected $1, found $2");
  return said.replace(/^expected (Object|Array)\b/, (_, kind: string) => `expected an ${kind.toLowerCase()}`);
}
