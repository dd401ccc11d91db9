import * as v from "valibot";
import type { JSONPath } from "jsonc-parser";
import { readOptionFile, type NamedFile } from "../../command_line/files.ts";
import { endMessage, endOfExpiry, expiryMessage, toExpires, isExpired } from "../../shared/decisions/expiry.ts";
import { maxPatternLength } from "../../shared/decisions/decision_finder.ts";
import { issueText } from "../../shared/issue_text.ts";
import { findRule, unknownRule, type RuleNames, vulnIdOf } from "../../shared/rule_names.ts";
import { ContentError, UsageError } from "../../shared/usage_error.ts";
import { parseJsonText } from "../evidence/json_text.ts";
import { maxReportBytes } from "../reports/read_report.ts";
import { type Decisions, isWaiverInForce } from "./apply_decisions.ts";
import { parseBaseline } from "./baseline.ts";
import { issuePath, lineFinder, placeOf } from "./option_file.ts";
import type { GatewayAccess } from "../../command_line/gateway_access.ts";
import { openGateway, problemOf } from "../../shared/client/gateway_client.ts";
import { pageOf } from "../../shared/schemas/primitives.ts";
import { decisionEnd, decisionSchema } from "../../shared/schemas/decision.ts";

/** Ten thousand decisions with long reasons. */
const maxDecisionBytes = 8 * 1_048_576;
const maxDecisions = 10_000;
/** In one plan. */
const maxMilestones = 100;

/** Source of a file, for its messages. */
export interface DecisionFileSource {
  readonly option: string;
  /** Every rule there is: a decision on an unknown check would silently decide nothing. */
  readonly rules: readonly RuleNames[];
  /** Receives a message about names of another revision of a rule. */
  readonly warn?: (message: string) => void;
}

/** Throws `UsageError` naming every file that cannot be used, and why; null: it was not given. */
export async function readDecisions(
  { decisions: source, baseline }: Readonly<Record<"decisions" | "baseline", NamedFile | null>>,
  known: Pick<DecisionFileSource, "rules" | "warn">,
): Promise<Decisions> {
  const [decided, compared] = await Promise.allSettled([
    source &&
      readOptionFile({ ...source, maxBytes: maxDecisionBytes }, (text) =>
        parseDecisions(text, { option: source.option, ...known }),
      ),
    baseline && readOptionFile({ ...baseline, maxBytes: maxReportBytes }, parseBaseline),
  ]);
  if (decided.status === "fulfilled" && compared.status === "fulfilled")
    return { waivers: [], attestations: [], ...decided.value, baseline: compared.value };
  const problems = [decided, compared].flatMap((one) =>
    one.status === "rejected" ? [String(one.reason.message)] : [],
  );
  throw new UsageError(problems);
}

const nonEmptyText = v.pipe(v.string("expected a text"), v.trim(), v.nonEmpty("must not be empty"));

/** A day (until its end, UTC) or a date-time with its offset. */
const date = v.pipe(
  v.string("expected a date"),
  v.check((text) => !Number.isNaN(endOfExpiry(text)), expiryMessage),
);

const common = {
  check: nonEmptyText,
  reason: nonEmptyText,
  by: nonEmptyText,
  expires: v.pipe(
    v.string(endMessage),
    v.check((text) => toExpires(text) === null || !Number.isNaN(endOfExpiry(text)), endMessage),
    v.transform(toExpires),
  ),
};

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

const pattern = v.pipe(
  v.string("expected a text"),
  v.nonEmpty("must not be empty"),
  v.maxLength(maxPatternLength, `is too long: expected ${maxPatternLength} characters at most`),
);

/** When something is planned to be remediated, and by which steps. */
const planFields = {
  remediation_date: v.exactOptional(date),
  milestones: v.exactOptional(
    v.pipe(
      v.array(milestone, "expected a list"),
      v.maxLength(maxMilestones, `has too many entries: expected ${maxMilestones} at most`),
    ),
  ),
};

const waiver = v.strictObject({ ...common, ...planFields, resource: v.optional(v.nullable(pattern), null) });
const { expires: _, ...planEntries } = waiver.entries;
const plan = v.strictObject({ ...planEntries, by: v.exactOptional(nonEmptyText) });
const attestation = v.strictObject({
  ...common,
  status: v.pipe(
    v.string("expected a text"),
    v.toUpperCase(),
    v.picklist(["PASS", "FAIL", "NOT_APPLICABLE"], "expected PASS, FAIL or NOT_APPLICABLE"),
  ),
});

/** One with a status attests, one with a remediation date and no end plans, every other waives. */
const entry = v.lazy((input) => {
  if (typeof input !== "object" || input === null) return waiver;
  if ("status" in input) return attestation;
  return "remediation_date" in input && !("expires" in input) ? plan : waiver;
});

/** Plans are among the waivers. Reads `[…]` or `{ "decisions": […] }`; throws `ContentError` with every problem of the file: a malformed one stops the scan before it starts. */
export function parseDecisions(text: string, source: DecisionFileSource): Omit<Decisions, "baseline"> {
  const content = parseJsonText(text, { repeatedKeys: "refuse" });
  const list: unknown =
    typeof content === "object" && content !== null && key in content ? Reflect.get(content, key) : content;
  const findLine = lineFinder(text);
  const lineOf = (path: JSONPath) => findLine(list === content ? path : [key, ...path]);
  if (!Array.isArray(list))
    throw new ContentError([`expected a list, or an object with the list ${JSON.stringify(key)}`]);
  if (list.length > maxDecisions)
    throw new ContentError([`${key} has ${list.length} entries: expected ${maxDecisions} at most`]);

  const parsed = v.safeParse(v.array(entry), list);
  if (!parsed.success) {
    throw new ContentError(
      parsed.issues.map((issue) => {
        const path = issuePath(issue);
        const hint = issue.received === "undefined" ? missing[String(path.at(-1))] : undefined;
        const problem = issueText(issue, lineOf(path) + placeOf([key, ...path]));
        return hint === undefined ? problem : `${problem}: ${hint}`;
      }),
    );
  }
  const { option, rules, warn } = source;
  const given = parsed.output.map((decision) => ({ decision, found: findRule(decision.check, rules) }));
  const wrong = given.flatMap(({ decision, found }, index) => {
    const seeList = "run `scanstream explain` for the list";
    const unknown = found === null ? [`.check: ${unknownRule(decision.check, rules, seeList)}`] : [];
    const ofPlan = "status" in decision ? [] : planProblems(decision);
    return [...unknown, ...ofPlan].map((problem) => `${lineOf([index])}${key}[${index}]${problem}`);
  });
  if (wrong.length > 0) throw new ContentError(wrong);
  const warnings = new Set(given.flatMap(({ found }) => found?.warning ?? []));
  for (const warning of warnings) warn?.(`${option}: ${warning}`);
  const named = given.map(({ decision, found }) => ({ ...decision, check: found?.rule.check ?? decision.check }));
  return {
    waivers: named.flatMap((each) => ("status" in each ? [] : [each])),
    attestations: named.flatMap((each) => ("status" in each ? [each] : [])),
  };
}

const key = "decisions";

/** Problems that no field shows by itself. */
function planProblems({ remediation_date: planned, milestones = [] }: v.InferOutput<typeof plan>): readonly string[] {
  if (planned === undefined) {
    return milestones.length === 0 ? [] : [".milestones: expected a remediation_date next to them"];
  }
  return milestones.flatMap(({ date: day }, index) =>
    day !== null && endOfExpiry(day) > endOfExpiry(planned)
      ? [`.milestones[${index}].date: expected no day after remediation_date, ${planned}`]
      : [],
  );
}

/** Time for one page: a gateway that takes longer counts as unavailable. */
const timeoutMs = 15_000;

/** Only what is used: a gateway of another release may answer other fields differently. */
const used = v.pick(decisionSchema, ["kind", "check", "resource", "status", "reason", "by", "org_url"]);
const decision = v.object({ ...used.entries, expires: v.nullable(decisionEnd) });
export type FetchedDecision = v.InferOutput<typeof decision>;

/**
 * The decisions of files with those of the gateway, and a line for each of the latter that does not count here: one on a check that is not
 * known, and one for which a file has its own. `rules`: every rule there is.
 */
export function mergeDecisions(
  files: Decisions,
  gateway: readonly FetchedDecision[],
  { rules, nowMs }: { readonly rules: readonly RuleNames[]; readonly nowMs: number },
): { readonly decisions: Decisions; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const waivers = [...files.waivers];
  const attestations = [...files.attestations];
  const ofFiles = new Set([
    ...waivers.filter((waiver) => isWaiverInForce(waiver, nowMs)).map((waiver) => keyOf("waiver", waiver)),
    ...attestations.filter(({ expires }) => !isExpired(expires, nowMs)).map((own) => keyOf("attestation", own)),
  ]);
  const ofGateway = new Set<string>();
  // One about this organization counts before one about every organization.
  for (const each of gateway.toSorted((a, b) => Number(a.org_url === null) - Number(b.org_url === null))) {
    const { kind, resource, status, reason, expires, by } = each;
    const found = findRule(each.check, rules);
    const check = found?.rule.check ?? each.check;
    const key = keyOf(kind, { check, resource });
    const unknown = found === null ? unknownRule(check, rules, "this scan does not know it") : null;
    const problem = unknown ?? (ofFiles.has(key) ? "--decisions has its own" : null);
    if (problem !== null) {
      const place = resource === null ? "" : ` for ${JSON.stringify(resource)}`;
      warnings.push(`The ${kind} of ${vulnIdOf(check)}${place} by ${by} at the gateway is ignored: ${problem}`);
    } else if (!ofGateway.has(key)) {
      ofGateway.add(key);
      const decided = { check, reason, expires, by, source: "gateway" } as const;
      if (kind === "waiver") waivers.push({ ...decided, resource });
      else if (status !== null) attestations.push({ ...decided, status });
    }
  }
  return { decisions: { ...files, waivers, attestations }, warnings };
}

/**
 * The decisions that hold at the gateway about the organization of the address, and about every one. Throws `UsageError` where they cannot be
 * had, whole: what people waived would fail the run.
 */
export async function fetchDecisions(
  access: GatewayAccess,
  orgUrl: string,
  signal: AbortSignal,
): Promise<readonly FetchedDecision[]> {
  const gateway = openGateway({ ...access, timeoutMs });
  const all: FetchedDecision[] = [];
  const query = { active: "true", org_url: orgUrl, limit: "200" };
  try {
    for await (const { items } of gateway.pages("/api/v1/decisions", pageSchema, { query, signal })) {
      all.push(...items);
      if (all.length > maxDecisions) throw new RangeError(`there are more than ${maxDecisions}`);
    }
  } catch (error) {
    throw new UsageError([`Cannot use --decisions-from-gateway: ${problemOf(error)}`], { cause: error });
  }
  return all;
}

const pageSchema = pageOf(decision);

function keyOf(
  kind: FetchedDecision["kind"],
  { check, resource }: { readonly check: string; readonly resource?: string | null },
): string {
  return JSON.stringify([kind, check, resource ?? null]);
}
