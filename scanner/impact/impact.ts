import { countOf } from "../../shared/outcome_text.ts";
import type { CollectedArtifacts } from "../evidence/artifacts.ts";
import type { FixPlan } from "../fix/plan_draft.ts";
import { addressOf } from "../fix/terraform.ts";
import type { PageReader } from "../okta/idp_client.ts";
import { judgeOf, unjudgedReason, type Impact } from "./change_judges.ts";
import { Sessions } from "./sessions.ts";
import { readSignIns } from "./sign_ins.ts";

/** What a plan would have done to the sign-ins of a time, change by change. */
export interface PlanImpact {
  readonly days: number;
  /** ISO 8601, UTC. */
  readonly since: string;
  readonly until: string;
  /** Entries of the System Log that were counted, and dropped. */
  readonly entries: number;
  /** Why the log was not read to its end; null: it was. */
  readonly problem: string | null;
  /** By the address of the resource; a text says why nothing could be judged. */
  readonly changes: ReadonlyMap<string, Impact | string>;
}

const dayMs = 86_400_000;

/** One pass over the log, in which every change sees every sign-in. */
export async function measureImpact(
  { plan, artifacts }: { readonly plan: FixPlan; readonly artifacts: CollectedArtifacts },
  { days, nowMs }: { readonly days: number; readonly nowMs: number },
  { pages, onPage }: { readonly pages: PageReader; readonly onPage: (entries: number) => void },
): Promise<PlanImpact> {
  const sinceMs = nowMs - days * dayMs;
  const judges = plan.resources.map((resource) => ({
    resource,
    judge: judgeOf(resource, plan.resources, artifacts),
  }));
  const sessions = new Sessions();
  const { entries, problem } = await readSignIns(
    pages,
    { sinceMs, untilMs: nowMs },
    {
      onPage,
      visit(signIn) {
        const session = sessions.see(signIn);
        for (const { judge } of judges) judge?.see(signIn, session);
        if (session !== null) session.lastMs = signIn.atMs;
      },
    },
  );
  const isUnread = problem !== null && entries === 0;
  return {
    days,
    since: new Date(sinceMs).toISOString(),
    until: new Date(nowMs).toISOString(),
    entries,
    problem,
    changes: new Map<string, Impact | string>(
      judges.map(({ resource, judge }): [string, Impact | string] => {
        if (judge === null) return [addressOf(resource), unjudgedReason(resource)];
        if (isUnread) return [addressOf(resource), problem];
        return [addressOf(resource), { ...judge.result(), complete: problem === null }];
      }),
    ),
  };
}

/** The same plan, each change with what it would have done in words; what is true of several is said once. */
export function withImpact(plan: FixPlan, { changes, days }: PlanImpact): FixPlan {
  const said = new Map<string, string>();
  return {
    ...plan,
    resources: plan.resources.map((resource) => {
      const found = changes.get(addressOf(resource));
      if (found === undefined) return resource;
      const text = typeof found === "string" ? `not known: ${found}` : impactText(found);
      const key = `${JSON.stringify(resource.attributes.get("policy_id")?.value)} ${text}`;
      const earlier = typeof found === "string" ? undefined : said.get(key);
      if (earlier === undefined) said.set(key, resource.title);
      const about = earlier === undefined ? text : `the same as of ${earlier}`;
      return {
        ...resource,
        warnings: [...resource.warnings, `Impact on the last ${countOf(days, "day")}: ${about.replace(/\.$/, "")}.`],
      };
    }),
  };
}

/** `at least 12 sign-ins of 3 users would have been blocked or asked for more (a@…, b@…)`. */
function impactText(impact: Impact): string {
  const { users, apps, sign_ins: signIns, names, zones, asked_again: again, not_evaluated: unclear, complete } = impact;
  const least = complete ? "" : "at least ";
  const counted = (count: number, of: number, who: readonly string[]) =>
    `${least}${countOf(count, "sign-in")} of ${countOf(of, "user")}${namesText(who, of)}`;
  const parts =
    zones === undefined
      ? [
          `${counted(signIns ?? 0, users ?? 0, names)}${apps === null || apps === 0 ? "" : ` to ${countOf(apps, "app")}`} would have been blocked or asked for more`,
        ]
      : [
          ...(zones.length === 0 ? ["the org has no zone yet to compare with"] : []),
          ...zones.map(({ name, users: outside, sign_ins: count, names: who }) =>
            outside === null || count === null
              ? `the log does not show who is outside the zone "${name}"`
              : `${counted(count, outside, who)} came from outside the zone "${name}"`,
          ),
          ...(again === undefined
            ? []
            : [`in addition, ${counted(again.sign_ins, again.users, again.names)} would have been asked for more`]),
        ];
  const unread = unclear === 0 ? [] : [`${countOf(unclear, "more sign-in")} could not be evaluated`];
  return [...parts, ...unread].join("; ");
}

function namesText(names: readonly string[], users: number): string {
  if (names.length === 0) return "";
  const more = users - names.length;
  return ` (${names.join(", ")}${more > 0 ? ` and ${more} more` : ""})`;
}
