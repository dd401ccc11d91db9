import { outcomeText } from "../../../shared/outcome_text.ts";
import { ruleStates, type RuleState } from "../../../shared/rule_result.ts";
import { categoryNames } from "../../../shared/severity.ts";
import { ruleName } from "../model/check_catalog.ts";
import { formatCount } from "../model/format.ts";
import { countDone, type CheckCounts, type CheckState, type ScanModel } from "../model/scan_model.ts";
import { isEnded, type Scan } from "../scan_wire.ts";
import { StateTag, stateTones, Tiles } from "./basics.tsx";

/** A cell for each check reads well up to here; beyond it the bar is one of shares. */
const maxCells = 80;

interface ProgressProps {
  readonly model: ScanModel;
  readonly scan: Scan;
  readonly counts: CheckCounts;
}

export function Progress({ model, scan, counts }: ProgressProps) {
  const total = Math.max(scan.checksTotal, counts.done);
  const checks = [...model.checks.values()].sort((a, b) => a.order - b.order);
  return (
    <section class="card progress" aria-labelledby="progress-title">
      <h2 id="progress-title">Progress</h2>
      <p class="progress-figures row">
        <span class="figure">{formatCount(counts.done)}</span>
        <span>{total === 0 ? "checks" : `of ${formatCount(total)} checks`}</span>
      </p>
      <div
        class="cells"
        role="progressbar"
        aria-labelledby="progress-title"
        aria-valuemin={0}
        aria-valuemax={Math.max(1, total)}
        aria-valuenow={counts.done}
        aria-valuetext={toProgressText(counts, total)}
      >
        {toCells(checks, counts, total, isEnded(scan.status)).map(({ fill, flexGrow }, index) => (
          <span key={index} class={`cell ${fill}`.trim()} style={{ flexGrow }} />
        ))}
      </div>
      <Tiles counts={counts} />
      <p class="progress-latest row text">
        {isEnded(scan.status) ? <span>{toSummary(checks)}</span> : <Latest check={checks.at(-1)} />}
      </p>
    </section>
  );
}

export function toProgressText(counts: CheckCounts, total: number): string {
  return `${counts.done} of ${total} checks done: ${outcomeText((state) => counts[state])}`;
}

/** The check that finished last. */
function Latest({ check }: { readonly check: CheckState | undefined }) {
  if (check === undefined) return <span>Waiting for the first check…</span>;
  return (
    <>
      <StateTag state={check.state} />
      <span class="one-line">{ruleName(check.check)}</span>
    </>
  );
}

/** How bad it is. */
function toSummary(checks: readonly CheckState[]): string {
  if (checks.length === 0) return "";
  const failed = checks.filter(({ state }) => state === "fail");
  if (failed.length === 0) return "No rule failed.";
  const parts = (["high", "medium", "low"] as const)
    .map((severity) => ({ severity, count: failed.filter((check) => check.severity === severity).length }))
    .filter(({ count }) => count > 0)
    .map(({ severity, count }) => `${formatCount(count)} ${categoryNames[severity]}`);
  return `Failed rules: ${parts.join(", ")}.`;
}

interface Cell {
  readonly fill: string;
  readonly flexGrow: string;
}

function toCells(checks: readonly CheckState[], counts: CheckCounts, total: number, isOver: boolean): readonly Cell[] {
  if (total > maxCells) {
    const shares = ruleStates.map((state) => ({ fill: fillOf(state), flexGrow: String(counts[state]) }));
    return [...shares, { fill: "", flexGrow: String(Math.max(0, total - counts.done)) }];
  }
  // Checks whose findings this page does not know still have their colour, if not their place.
  const results =
    checks.length === countDone(counts)
      ? checks.map(({ state }) => state)
      : ruleStates.flatMap((state) => Array.from({ length: counts[state] }, () => state));
  const next = isOver ? -1 : Math.max(counts.done, results.length);
  return Array.from({ length: total }, (_cell, index) => {
    const state = results[index];
    const unknown = index < counts.done ? "cell-done" : index === next ? "cell-next" : "";
    return { fill: state === undefined ? unknown : fillOf(state), flexGrow: "1" };
  });
}

function fillOf(state: RuleState): string {
  return `filled ${stateTones[state]}`;
}
