import * as v from "valibot";
import { issueText } from "../shared/issue_text.ts";
import { adviceFor } from "../shared/nearest_name.ts";
import { UsageError } from "../shared/usage_error.ts";

/** Throws `UsageError` that names each option which is unknown, missing or of another type: a typo must not mean the default. */
export function checkOptions(caller: string, entries: v.ObjectEntries, options: unknown): void {
  const { issues } = v.safeParse(v.strictObject(entries), options, { abortPipeEarly: true });
  if (issues === undefined) return;
  const problems = issues.map((issue) => {
    const path = v.getDotPath(issue);
    const isUnknown = issue.expected === "never" && issue.path?.length === 1;
    const advice = isUnknown ? `: ${adviceFor(String(path), Object.keys(entries))}` : "";
    return issueText(issue, path ?? "the options") + advice;
  });
  throw new UsageError(problems, { heading: `Cannot call ${caller}` });
}

export const someText = v.pipe(v.string(), v.nonEmpty("expected a text that is not empty"));
export const optionalText = v.optional(someText);
const urlMessage = "expected postgres://user:password@host/database";
export const databaseUrl = v.pipe(v.string(), v.regex(/^postgres(?:ql)?:\/\//i, urlMessage));
/** A user is always named with a host. */
export const urlWithUser = v.pipe(
  databaseUrl,
  v.check((url) => Boolean(URL.parse(url)?.username), urlMessage),
);
const path = /^\/$|^(?!\/api\/)(?:\/[\w:.-]+)+$/;
export const somePath = v.pipe(v.string(), v.regex(path, "expected a path like /jobs or /:id/event-stream"));
export const wholeNumber = v.pipe(v.number(), v.integer(), v.minValue(0));
export const optionalNumber = v.optional(wholeNumber);
export const optionalFunction = v.optional(v.function());
