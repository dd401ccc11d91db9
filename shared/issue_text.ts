import * as v from "valibot";

/** A schema's complaint about a file as a sentence that begins with the place. */
export function issueText(issue: v.BaseIssue<unknown>, place = v.getDotPath(issue) ?? "the file"): string {
  if (issue.expected === "never") return `${place}: is not a known field`;
  if (issue.received === "undefined") return `${place}: is required`;
  return `${place}: ${issue.message.replace(/^Invalid [^:]+: Expected (.+) but received (.+)$/, "expected $1, found $2")}`;
}
