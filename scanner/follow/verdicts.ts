import type { CatalogCheck } from "../catalog/catalog.ts";
import type { ArtifactName, CollectedArtifacts } from "../evidence/artifacts.ts";
import { evaluateTraced, toContext } from "../run_scan.ts";
import type { Attestation, CheckResult, Engine, StatusCounts } from "../../shared/report.ts";
import {
  compareFindings,
  countChecks,
  isAnyFailing,
  ruleVerdict,
  type KnownFinding,
  type MissingList,
  type Move,
  type RuleVerdict,
} from "./changes.ts";
import type { FollowParts, FollowPlan } from "./follow_plan.ts";
import type { FollowState } from "./follow_state.ts";

export interface JudgedCheck {
  readonly check: CatalogCheck;
  /** Artifacts that it read. */
  readonly needs: readonly ArtifactName[];
  readonly moves: readonly Move[];
  /** The verdict of the whole check from now on. */
  readonly rule: RuleVerdict;
  /** It was not judged before: its findings are no changes. */
  readonly isNew: boolean;
}

export interface JudgeOptions {
  readonly artifacts: CollectedArtifacts;
  readonly engine: Engine;
  /** ISO 8601, UTC. */
  readonly evaluatedAt: string;
  /** The results with the decisions on them. */
  readonly decide: (results: readonly CheckResult[]) => readonly CheckResult[];
  readonly trace?: FollowParts["trace"];
}

/** The findings of the selected checks as they were judged last. */
export class Verdicts {
  readonly #plan: FollowPlan;
  readonly #findings: Map<string, readonly KnownFinding[]>;
  readonly #judged: Set<string>;
  readonly #attestations = new Map<string, Attestation>();

  /** Among what is saved, that of another selection of checks, or of another revision of the STIG, is forgotten. */
  constructor(plan: FollowPlan, state: FollowState | null) {
    const saved = state?.benchmark === plan.benchmark ? state : null;
    const selected = new Set(plan.checks.map(({ name }) => name));
    const findings = (saved?.findings ?? []).filter(({ check }) => selected.has(check));
    this.#plan = plan;
    this.#findings = new Map(Map.groupBy(findings, ({ check }) => check));
    this.#judged = new Set((saved?.checks ?? []).filter((name) => selected.has(name)));
  }

  /** Only checks with findings that moved. */
  judge({ artifacts, engine, evaluatedAt, decide, trace }: JudgeOptions): readonly JudgedCheck[] {
    const { checks, orgUrl, orgPolicy } = this.#plan;
    const context = toContext({ engine, evaluatedAt, orgUrl, orgPolicy: orgPolicy.current() });
    const judged: JudgedCheck[] = [];
    for (const check of checks) {
      const needs = needsOf(check, artifacts);
      const isNew = !this.#judged.has(check.name);
      const evaluated = evaluateTraced(check, artifacts, { context, trace });
      const [result = evaluated] = decide([evaluated]);
      if (result.attestation === null) this.#attestations.delete(check.name);
      else this.#attestations.set(check.name, result.attestation);
      const before = this.#findings.get(check.name) ?? [];
      const { moves, known } = compareFindings(before, result, missingOf(needs, artifacts));
      this.#findings.set(check.name, known);
      this.#judged.add(check.name);
      const rule = { ...ruleVerdict(known), severity: check.rule.severity };
      if (moves.length > 0) judged.push({ check, needs, moves, rule, isNew });
    }
    return judged;
  }

  counts(): StatusCounts {
    return countChecks(this.#findings, this.#attestations);
  }

  isClean(): boolean {
    const isAttestedToFail = [...this.#attestations.values()].some(({ status }) => status === "FAIL");
    return !isAttestedToFail && !isAnyFailing(this.#findings.values());
  }

  findings(): readonly KnownFinding[] {
    return [...this.#findings.values()].flat();
  }

  checks(): readonly string[] {
    return [...this.#judged];
  }
}

function needsOf(check: CatalogCheck, artifacts: CollectedArtifacts): readonly ArtifactName[] {
  try {
    return [...check.artifacts, ...check.conditionalArtifacts(artifacts)];
  } catch {
    return check.artifacts;
  }
}

function missingOf(needs: readonly ArtifactName[], artifacts: CollectedArtifacts): MissingList | null {
  for (const name of needs) {
    const evidence = artifacts[name];
    if (evidence?.state === "missing") return { reason: evidence.reason, detail: evidence.detail };
  }
  return null;
}
