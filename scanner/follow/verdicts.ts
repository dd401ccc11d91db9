import { isNotShown, type ArtifactName, type CollectedArtifacts, type MissingEvidence } from "../evidence/artifacts.ts";
import { catalog } from "../catalog/catalog.ts";
import { artifactsReadBy } from "../checks/check.ts";
import { areAllAppsSeen } from "../checks/parsing/whole_list.ts";
import { evaluateTraced, toContext } from "../run_scan.ts";
import type { CheckResult, Engine, Finding, StatusCounts } from "../../shared/report.ts";
import { countedFindings, countStates, failuresOf, stateOf, worstVerdict } from "../../shared/rule_result.ts";
import { ownDecisionsOf } from "../streaming/finding_created.ts";
import {
  firstState,
  isMoved,
  isNewFailure,
  isOfDecision,
  objectOf,
  toExplanation,
  toChangeLine,
  type Cause,
  type ChangeLine,
  type KnownFinding,
  type Move,
} from "./changes.ts";
import type { FollowParts, FollowPlan } from "./follow_plan.ts";
import type { FollowState } from "./follow_state.ts";
import type { Relevant } from "./log_event.ts";
import { relateObjects } from "./who_changed.ts";

/** Cause of a change that no event explains. */
export type OtherCause = "reconciliation" | "start" | "org_policy";

interface Round {
  readonly events: readonly Relevant[];
  readonly cause: OtherCause;
  readonly artifacts: CollectedArtifacts;
  readonly engine: Engine;
  readonly nowMs: number;
  /** When the last full scan before it began. */
  readonly scannedMs: number;
  readonly monitorId: string;
}

const gone = { to: null, expected: "", actual: "not followed any more", toPass: null };

/** The limit of the change schema. */
const maxExplanations = 20;

/** The findings as they were judged last. Those of checks that are not followed any more end in the first round. */
export function createVerdicts(plan: FollowPlan, parts: FollowParts, saved: FollowState | null) {
  const { checks, orgUrl, orgPolicy, failOn, withAddresses } = plan;
  const findings = new Map<string, readonly KnownFinding[]>(Map.groupBy(saved?.findings ?? [], ({ check }) => check));
  /** Checks that were judged before, by this revision of the STIG. */
  const judged = new Set(saved?.benchmark === plan.benchmark ? findings.keys() : []);
  /** The evidence by which they were judged. */
  let artifacts: CollectedArtifacts = {};
  /** The results of this process, with the decisions on them. */
  const results = new Map<string, CheckResult>();
  let hasFailed = false;
  return {
    judge,
    /** True after a finding that `--fail-on` ends with. */
    hasFailed: () => hasFailed,
    counts: (): StatusCounts => countStates([...results.values()]),
    isClean: () => [...results.values()].every((result) => failuresOf(result).every(({ waived }) => waived)),
    toSave: (): readonly KnownFinding[] => [...findings.values()].flat(),
  };

  /** The findings that moved, each with the events that explain it, and with the others of the same interval. */
  function judge(round: Round): readonly ChangeLine[] {
    const { artifacts: now, engine, nowMs, monitorId } = round;
    const seenAt = new Date(nowMs).toISOString();
    const context = toContext({ engine, evaluatedAt: seenAt, orgUrl, orgPolicy: orgPolicy.current() });
    const lines: ChangeLine[] = [];
    for (const check of checks) {
      const { name, rule: stigRule } = check;
      const evaluated = evaluateTraced(check, now, { context, trace: parts.trace });
      const [result = evaluated] = parts.decisions.apply([evaluated], nowMs);
      results.set(name, result);
      const needs = artifactsReadBy(check, now, context);
      const all = compareWithKnown(findings.get(name) ?? [], result, whyUnseen(result, needs, now));
      const known = all.flatMap(({ to }) => to ?? []);
      findings.set(name, known);
      // A check that was not judged before: its findings are not changes.
      const isNew = !judged.has(name);
      judged.add(name);
      const moves = isNew
        ? all.map((move) => (move.to === null ? move : { ...move, from: null }))
        : all.filter(isMoved);
      if (moves.length === 0) continue;
      const explain = isNew ? () => firstState : explainer(round, needs);
      const rule = { ...worstVerdict(countedFindings(known)), severity: stigRule.severity };
      const facts = { org_url: orgUrl, monitor_id: monitorId, rule, seen_at: seenAt };
      for (const move of moves) lines.push(toChangeLine(move, { ...facts, id: parts.newId(), ...explain(move) }));
      hasFailed ||= !isNew && moves.some((move) => isNewFailure(move, failOn, stigRule.severity));
    }
    // Nothing is known any more of what is not followed: whoever has its results would take them for present ones.
    for (const [check, known] of findings) {
      if (results.has(check)) continue;
      findings.delete(check);
      const severity = catalog.find(({ name }) => name === check)?.rule.severity ?? ("medium" as const);
      const rule = { status: "MANUAL", reason: "interrupted", severity } as const;
      const facts = { org_url: orgUrl, monitor_id: monitorId, rule, seen_at: seenAt, ...firstState };
      for (const from of known) lines.push(toChangeLine({ ...gone, from }, { ...facts, id: parts.newId() }));
    }
    artifacts = now;
    return lines;
  }

  /** Why a known finding that is not found now may still be there; null: it is gone. */
  function whyUnseen(result: CheckResult, needs: readonly ArtifactName[], now: CollectedArtifacts) {
    const missing = missingOf(needs, now);
    const isPart = needs.includes("apps") && !areAllAppsSeen(now.apps);
    const wasWhole = areAllAppsSeen(artifacts.apps);
    const isHidden = result.findings.some(({ reason }) => reason === hiddenApp.reason);
    return ({ resource: { type }, reason }: KnownFinding) => {
      // The finding that stood for a whole list which could not be read: it ends when the list can be.
      if (missing !== null || type !== "app") return type === "org" ? null : missing;
      return isHidden || (isPart && (wasWhole || reason === hiddenApp.reason)) ? hiddenApp : null;
    };
  }

  /** Explains the moves of a check that reads these artifacts. */
  function explainer(round: Round, needs: readonly ArtifactName[]): (move: Move) => Cause {
    const { events, cause: otherCause } = round;
    const touching = events.filter((event) => event.artifacts.some((one) => needs.includes(one)));
    const aboutWhich = touching.length === 0 ? null : relateObjects(artifacts, round.artifacts, { needs, touching });
    return (move) => {
      const resource = (move.to ?? move.from)?.resource;
      const isAbout = resource === undefined || !isOfOrg(move) ? undefined : aboutWhich?.(resource);
      const named = new Set(isAbout === undefined ? [] : touching.filter(({ event }) => isAbout(event)));
      const isDecided = isOfDecision(move) && otherCause !== "org_policy";
      const unexplained = isDecided ? "decision" : touching.length > 0 ? "log" : otherCause;
      const cause = named.size > 0 ? "log" : unexplained;
      const others = cause === "decision" ? [] : events.filter((event) => !named.has(event));
      const explaining = [...named].slice(0, maxExplanations);
      return {
        cause,
        not_before: cause === "log" || cause === "reconciliation" ? notBeforeOf(named, round) : null,
        explained_by: explaining.map(({ event }) => toExplanation(event, withAddresses)),
        // The type of an event and the name of its object, without who made it.
        also: others
          .slice(0, maxExplanations)
          .map(({ event }) => [event.type, objectOf(event)?.name ?? ""].join(" ").trimEnd()),
      };
    };
  }
}

/** Time of the first of the events that caused a change; that of the last full scan where none did or says when. */
function notBeforeOf(events: Iterable<Relevant>, { nowMs, scannedMs }: Round): string {
  const firstMs = Math.min(...Array.from(events, ({ event }) => Date.parse(event.published ?? "")));
  const fromMs = Number.isFinite(firstMs) ? Math.max(firstMs, scannedMs) : scannedMs;
  return new Date(Math.min(fromMs, nowMs)).toISOString();
}

type Unseen = Pick<MissingEvidence, "reason" | "detail">;

const hiddenApp: Unseen = { reason: "missing_role", detail: "the administrator role of this client no longer sees it" };

/**
 * Pairs each finding of a check with the known one of the same fingerprint, and adds the findings that are gone. While a list cannot
 * be read, or the role sees less of it, its resources are not gone: each becomes MANUAL with the reason, so that its history goes on.
 */
export function compareWithKnown(
  known: readonly KnownFinding[],
  result: CheckResult,
  whyUnseen: (known: KnownFinding) => Unseen | null,
): readonly Move[] {
  const old = new Map(known.map((finding) => [finding.fingerprint, finding]));
  const failing = new Set(failuresOf(result));
  const found = result.findings.map((finding) => {
    const from = old.get(finding.fingerprint) ?? null;
    old.delete(finding.fingerprint);
    const { expected, actual, to_pass: toPass = null } = finding;
    return { from, to: toKnown(result, finding, failing.has(finding)), expected, actual, toPass };
  });
  const others = [...old.values()].map((from) => {
    const unseen = whyUnseen(from);
    const to = unseen === null ? null : { ...from, status: "MANUAL" as const, reason: unseen.reason };
    return { from, to, expected: "", actual: unseen?.detail ?? "no longer there", toPass: null };
  });
  const kept = new Set(others.flatMap(({ to }) => (to === null ? [] : [to.resource.name])));
  // One of Okta's own apps that is hidden now has no id, and would be a second finding of the same name.
  const isStandIn = ({ reason, resource }: KnownFinding) => reason === hiddenApp.reason && kept.has(resource.name);
  return [...found.filter(({ to }) => !isStandIn(to)), ...others];
}

function toKnown({ check, attestation }: CheckResult, finding: Finding, isFailing: boolean): KnownFinding {
  const { fingerprint, resource, status, reason, cause: causeId, advisory, waived } = finding;
  // A person may have found a failure where the scan found none.
  const isOpen = stateOf(finding) === "manual" || (isFailing && status !== "FAIL");
  const answer = isOpen ? attestation : null;
  const attested = answer?.status ?? null;
  const own = ownDecisionsOf(finding.waiver, answer);
  return { check, fingerprint, resource, status, reason, causeId, advisory, waived, attested, own };
}

/** Evidence of a check that could not be collected. */
function missingOf(needs: readonly ArtifactName[], artifacts: CollectedArtifacts): MissingEvidence | null {
  const found = needs.map((name) => artifacts[name]).find((evidence) => evidence?.state === "missing");
  return found?.state === "missing" ? found : null;
}

/** False where nothing of the org's configuration moved the finding: a decision did, or the provider refused to show it. */
function isOfOrg(move: Move): boolean {
  return !isOfDecision(move) && !isNotShown(move.to?.reason);
}
