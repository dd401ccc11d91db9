import { isNotShown, type ArtifactName, type CollectedArtifacts } from "../evidence/artifacts.ts";
import { artifactsReadBy } from "../evidence/artifacts_read_by.ts";
import { evaluateTraced, toContext } from "../run_scan.ts";
import type { CheckResult, Engine, StatusCounts } from "../../shared/report.ts";
import { countStates, failuresOf } from "../../shared/rule_result.ts";
import {
  compareWithKnown,
  isNewFailure,
  isOfDecision,
  maxExplanations,
  objectOf,
  ruleVerdict,
  toExplanation,
  toChangeLine,
  type ChangeLine,
  type KnownFinding,
  type MissingList,
  type Move,
} from "./changes.ts";
import type { FollowParts, FollowPlan } from "./follow_plan.ts";
import type { FollowState } from "./follow_state.ts";
import type { Relevant } from "./log_event.ts";
import { relateObjects } from "./who_changed.ts";

export interface Round {
  readonly events: readonly Relevant[];
  /** Cause of a change that no event explains. */
  readonly cause: "reconciliation" | "start" | "org_policy";
}

export interface JudgedEvidence {
  readonly artifacts: CollectedArtifacts;
  readonly engine: Engine;
  readonly nowMs: number;
  readonly monitorId: string;
}

/** The findings of the selected checks as they were judged last. */
export class Verdicts {
  readonly #plan: FollowPlan;
  readonly #parts: Pick<FollowParts, "decisions" | "newId" | "trace">;
  readonly #findings: Map<string, readonly KnownFinding[]>;
  /** The evidence by which they were judged. */
  #artifacts: CollectedArtifacts = {};
  #hasFailed = false;
  /** The results of this process, with the decisions on them. */
  readonly #results = new Map<string, CheckResult>();

  /** Drops saved results of checks that are not selected, and all results of another revision of the STIG. */
  constructor(plan: FollowPlan, parts: Pick<FollowParts, "decisions" | "newId" | "trace">, state: FollowState | null) {
    const saved = state?.benchmark === plan.benchmark ? state : null;
    const selected = new Set(plan.checks.map(({ name }) => name));
    const findings = (saved?.findings ?? []).filter(({ check }) => selected.has(check));
    this.#plan = plan;
    this.#parts = parts;
    this.#findings = new Map(Map.groupBy(findings, ({ check }) => check));
  }

  /** The findings that moved, each with the events that explain it, and with the others of the same interval. */
  judge(
    { events, cause: otherCause }: Round,
    { artifacts: now, engine, nowMs, monitorId }: JudgedEvidence,
  ): readonly ChangeLine[] {
    const { checks, orgUrl, orgPolicy, failOn, withAddresses } = this.#plan;
    const { decisions, newId, trace } = this.#parts;
    const before = this.#artifacts;
    this.#artifacts = now;
    const seenAt = new Date(nowMs).toISOString();
    const context = toContext({ engine, evaluatedAt: seenAt, orgUrl, orgPolicy: orgPolicy.current() });
    const lines: ChangeLine[] = [];
    for (const check of checks) {
      const { name, rule: stigRule } = check;
      // A check that was not judged before: its findings are not changes.
      const isNew = !this.#findings.has(name);
      const evaluated = evaluateTraced(check, now, { context, trace });
      const [result = evaluated] = decisions.apply([evaluated], nowMs);
      this.#results.set(name, result);
      const needs = artifactsReadBy(check, now, context);
      const { moves, known } = compareWithKnown(this.#findings.get(name) ?? [], result, missingOf(needs, now));
      this.#findings.set(name, known);
      if (moves.length === 0) continue;
      const rule = { ...ruleVerdict(known), severity: stigRule.severity };
      const touching = isNew ? [] : events.filter((event) => event.artifacts.some((one) => needs.includes(one)));
      const aboutWhich = touching.length === 0 ? null : relateObjects(before, now, needs);
      const facts = { org_url: orgUrl, monitor_id: monitorId, rule, seen_at: seenAt };
      for (const move of moves) {
        const resource = (move.to ?? move.from)?.resource;
        const isAbout = resource === undefined || !isOfOrg(move) ? undefined : aboutWhich?.(resource);
        const named = new Set(isAbout === undefined ? [] : touching.filter(({ event }) => isAbout(event)));
        const isOfPolicy = otherCause === "org_policy";
        const unexplained = isOfDecision(move) && !isOfPolicy ? "decision" : touching.length > 0 ? "log" : otherCause;
        const cause = isNew ? "start" : named.size > 0 ? "log" : unexplained;
        const others = isNew || cause === "decision" ? [] : events.filter((event) => !named.has(event));
        const also = others.slice(0, maxExplanations).map(textOf);
        const explaining = [...named].slice(0, maxExplanations);
        const explained_by = explaining.map(({ event }) => toExplanation(event, withAddresses));
        lines.push(toChangeLine(move, { ...facts, id: newId(), cause, explained_by, also }));
      }
      this.#hasFailed ||= !isNew && moves.some((move) => isNewFailure(move, failOn, stigRule.severity));
    }
    return lines;
  }

  /** True after a finding that `--fail-on` ends with. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  counts(): StatusCounts {
    return countStates([...this.#results.values()]);
  }

  isClean(): boolean {
    return [...this.#results.values()].every((result) => failuresOf(result).every(({ waived }) => waived));
  }

  findings(): readonly KnownFinding[] {
    return [...this.#findings.values()].flat();
  }
}

function missingOf(needs: readonly ArtifactName[], artifacts: CollectedArtifacts): MissingList | null {
  for (const name of needs) {
    const evidence = artifacts[name];
    if (evidence?.state === "missing") return { reason: evidence.reason, detail: evidence.detail };
  }
  return null;
}

/** Returns the type of an event and the name of its object, without who made it. */
function textOf({ event }: Relevant): string {
  return [event.type, objectOf(event)?.name ?? ""].join(" ").trimEnd();
}

/** False where nothing of the org's configuration moved the finding: a decision did, or the provider refused to show it. */
function isOfOrg(move: Move): boolean {
  return !isOfDecision(move) && !isNotShown(move.to?.reason);
}
