import * as v from "valibot";
import type { JSONPath } from "jsonc-parser";
import type { NamedFile } from "../../command_line/files.ts";
import { issueText } from "../../shared/issue_text.ts";
import { endMessage, endOfExpiry, expiryMessage, toExpires } from "../../shared/decisions/expiry.ts";
import { findRule, unknownRule, type RuleNames } from "../../shared/rule_names.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { lineFinder, parseOptionJson, issuePath } from "./option_file.ts";

/** Ten thousand decisions with long reasons. */
export const maxDecisionBytes = 8 * 1_048_576;
export const maxDecisions = 10_000;
/** In one plan. */
const maxMilestones = 100;
const bounds = { maxDepth: 20, maxParts: 10 * maxDecisions, repeatedKeys: "refuse" } as const;
/** Bounds of the error message, as a file may hold a problem in every entry. */
const maxProblems = 20;
const maxProblemLength = 200;

/** Source of a file, for its error messages. */
export interface DecisionFileSource extends NamedFile {
  /** Every rule there is: a decision on an unknown check would silently decide nothing. */
  readonly rules: readonly RuleNames[];
  /** Is told of names of another revision of a rule. */
  readonly warn?: (message: string) => void;
}

const nonEmptyText = v.pipe(v.string("expected a text"), v.trim(), v.nonEmpty("must not be empty"));

/** A day (until its end, UTC) or a date-time with its offset. */
const date = v.pipe(
  v.string("expected a date"),
  v.check((text) => !Number.isNaN(endOfExpiry(text)), expiryMessage),
);

export const decisionFields = {
  check: nonEmptyText,
  reason: nonEmptyText,
  by: nonEmptyText,
  expires: v.pipe(
    v.string(endMessage),
    v.check((text) => toExpires(text) === null || !Number.isNaN(endOfExpiry(text)), endMessage),
    v.transform(toExpires),
  ),
} as const;

const missing: Readonly<Record<string, string>> = {
  reason: "expected why it was decided",
  by: "expected who decided it",
  expires: endMessage,
};

const milestone = v.union(
  [
    v.pipe(
      nonEmptyText,
      v.transform((description) => ({ description, date: null })),
    ),
    v.strictObject({ description: nonEmptyText, date: v.optional(v.nullable(date), null) }),
  ],
  'expected a text, or {"description": "…", "date": "2027-01-31"}',
);

/** When something is planned to be remediated, and by which steps. */
export const planFields = {
  remediation_date: v.exactOptional(date),
  milestones: v.exactOptional(
    v.pipe(
      v.array(milestone, "expected a list"),
      v.maxLength(maxMilestones, `has too many entries: expected ${maxMilestones} at most`),
    ),
  ),
} as const;

interface PlannedDecision {
  readonly check: string;
  readonly remediation_date?: string;
  readonly milestones?: readonly { readonly date: string | null }[];
}

/** Reads `[…]` or `{ "<key>": […] }`; throws `UsageError` with every problem of the file: a malformed one stops the scan before it starts. */
export function parseDecisionFile<Entry extends v.GenericSchema<unknown, PlannedDecision>>(
  text: string,
  key: string,
  entry: Entry,
  source: DecisionFileSource,
): readonly v.InferOutput<Entry>[] {
  const fail = (problems: readonly string[]) => toUsageError(source, problems);
  const content = parseOptionJson(text, bounds, fail);
  const list: unknown =
    typeof content === "object" && content !== null && key in content ? Reflect.get(content, key) : content;
  const findLine = lineFinder(text);
  const lineOf = (path: JSONPath) => findLine(list === content ? path : [key, ...path]);
  if (!Array.isArray(list)) throw fail([`expected a list, or an object with the list ${JSON.stringify(key)}`]);
  if (list.length > maxDecisions) throw fail([`${key} has ${list.length} entries: expected ${maxDecisions} at most`]);

  const parsed = v.safeParse(v.array(entry), list);
  if (!parsed.success) {
    throw fail(
      parsed.issues.map((issue) => {
        const path = issuePath(issue);
        const hint = issue.received === "undefined" ? missing[String(path.at(-1))] : undefined;
        return [
          issueText(issue, lineOf(path) + place(key, v.getDotPath(issue))),
          ...(hint === undefined ? [] : [hint]),
        ].join(": ");
      }),
    );
  }
  const { rules, warn } = source;
  const found = new Map(parsed.output.map(({ check }) => [check, findRule(check, rules)]));
  const wrong = parsed.output.flatMap((decision, index) => {
    const isKnown = found.get(decision.check) !== null;
    const unknown = isKnown
      ? []
      : [`.check: ${unknownRule(decision.check, rules, "run `scanstream explain` for the list")}`];
    return [...unknown, ...planProblems(decision)].map((problem) => `${lineOf([index])}${key}[${index}]${problem}`);
  });
  if (wrong.length > 0) throw fail(wrong);
  for (const rule of found.values()) {
    if (typeof rule?.warning === "string") warn?.(`${source.option}: ${rule.warning}`);
  }
  return parsed.output.map((decision) => ({
    ...decision,
    check: found.get(decision.check)?.rule.check ?? decision.check,
  }));
}

/** Problems that no field shows by itself. */
function planProblems({ remediation_date: planned, milestones = [] }: PlannedDecision): readonly string[] {
  if (planned === undefined) {
    return milestones.length === 0 ? [] : [".milestones: expected a remediation_date next to them"];
  }
  return milestones.flatMap(({ date: day }, index) =>
    day !== null && endOfExpiry(day) > endOfExpiry(planned)
      ? [`.milestones[${index}].date: expected no day after remediation_date, ${planned}`]
      : [],
  );
}

function toUsageError({ option, file }: DecisionFileSource, problems: readonly string[]): UsageError {
  const named = problems.slice(0, maxProblems).map(shorten);
  if (problems.length > maxProblems) named.push(`and ${problems.length - maxProblems} more`);
  return new UsageError([`Cannot use ${option} ${JSON.stringify(file)}: ${named.join("; ")}`]);
}

/** `0.check` of `waivers` is `waivers[0].check`. */
function place(key: string, path: string | null): string {
  const [index = "?", ...fields] = path?.split(".") ?? [];
  return [`${key}[${index}]`, ...fields].join(".");
}

function shorten(problem: string): string {
  return problem.length > maxProblemLength ? `${problem.slice(0, maxProblemLength)}…` : problem;
}
