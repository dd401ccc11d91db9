import type { Status } from "../../shared/report.ts";
import { element, setClass, setText } from "./dom.ts";
import { formatCount } from "./format.ts";
import { checkTitle } from "./check_catalog.ts";
import { icon, statusIcon, statusNames, statusTag } from "./icons.ts";
import type { CheckState, ScanModel } from "./scan_model.ts";
import { isEnded, type Scan } from "./scan_wire.ts";

export interface ProgressView {
  readonly element: HTMLElement;
  update(model: ScanModel): void;
}

/** A cell for each check reads well up to here; beyond it the bar is one of shares. */
const maxCells = 80;
const tileOrder: readonly Status[] = ["FAIL", "MANUAL", "PASS"];

export function createProgressView(): ProgressView {
  const done = element("span", { class: "figure" });
  const label = element("span", { class: "figure-label" });
  const bar = element("div", {
    class: "cells",
    attributes: { role: "progressbar", "aria-labelledby": "progress-title", "aria-valuemin": 0 },
  });
  const latest = element("p", { class: "progress-latest" });
  let latestKey = "";
  const tiles = tileOrder.map((status) => {
    const value = element("dd");
    const tile = element("div", { class: `tile tile-${statusIcon(status)}` }, [
      element("dt", {}, [icon(statusIcon(status)), statusNames[status]]),
      value,
    ]);
    return { status, value, tile };
  });
  return {
    element: element("section", { class: "card progress", attributes: { "aria-labelledby": "progress-title" } }, [
      element("h2", { text: "Progress", attributes: { id: "progress-title" } }),
      element("p", { class: "progress-figures" }, [done, label]),
      bar,
      element(
        "dl",
        { class: "tiles", attributes: { "aria-label": "Checks by result" } },
        tiles.map(({ tile }) => tile),
      ),
      latest,
    ]),
    update(model) {
      const { scan } = model;
      if (scan === null) return;
      const counts = countChecks(model, scan);
      const total = Math.max(scan.checksTotal, counts.done);
      setText(done, formatCount(counts.done));
      setText(label, total === 0 ? "checks" : `of ${formatCount(total)} checks`);
      bar.setAttribute("aria-valuemax", String(Math.max(1, total)));
      bar.setAttribute("aria-valuenow", String(counts.done));
      bar.setAttribute("aria-valuetext", toProgressText(counts, total));
      for (const { status, value } of tiles) setText(value, formatCount(counts[status]));
      drawCells(bar, model, counts, total, !isEnded(scan.status));
      const line = toLatest(model, scan);
      const key = `${line.check?.status ?? ""} ${line.text}`;
      if (key !== latestKey) {
        latest.replaceChildren(
          ...(line.check === null ? [] : [statusTag(line.check.status)]),
          element("span", { text: line.text }),
        );
      }
      latestKey = key;
    },
  };
}

/** While it runs, the check that finished last; afterwards, how bad it is. */
function toLatest(model: ScanModel, scan: Scan): { readonly check: CheckState | null; readonly text: string } {
  const checks = [...model.checks.values()];
  if (!isEnded(scan.status)) {
    const last = checks.reduce<CheckState | null>(
      (best, check) => (best === null || check.order > best.order ? check : best),
      null,
    );
    return { check: last, text: last === null ? "Waiting for the first check…" : checkTitle(last.check) };
  }
  const failed = checks.filter(({ status }) => status === "FAIL");
  if (checks.length === 0) return { check: null, text: "" };
  if (failed.length === 0) return { check: null, text: "No check failed." };
  const parts = severities
    .map((severity) => ({ severity, count: failed.filter((check) => check.severity === severity).length }))
    .filter(({ count }) => count > 0)
    .map(({ severity, count }) => `${formatCount(count)} of ${severity} severity`);
  return { check: null, text: `Failed: ${parts.join(", ")}.` };
}

const severities = ["high", "medium", "low"] as const;

export interface CheckCounts extends Readonly<Record<Status, number>> {
  readonly done: number;
}

/** The scan's own counts once it ended; before that whichever knows more, because progress events carry no counts. */
export function countChecks(model: ScanModel, scan: Scan): CheckCounts {
  const seen = { PASS: 0, FAIL: 0, MANUAL: 0 };
  for (const { status } of model.checks.values()) seen[status] += 1;
  const told = { PASS: scan.pass, FAIL: scan.fail, MANUAL: scan.manual };
  const toldDone = scan.pass + scan.fail + scan.manual;
  const isTold = isEnded(scan.status) ? toldDone > 0 : toldDone > model.checks.size;
  const counts = isTold ? told : seen;
  return { ...counts, done: Math.max(counts.PASS + counts.FAIL + counts.MANUAL, scan.checksDone) };
}

export function toProgressText(counts: CheckCounts, total: number): string {
  return `${counts.done} of ${total} checks done: ${counts.FAIL} failed, ${counts.MANUAL} need a person, ${counts.PASS} passed`;
}

function drawCells(bar: HTMLElement, model: ScanModel, counts: CheckCounts, total: number, isRunning: boolean): void {
  const classes =
    total <= maxCells ? toCellClasses(model, counts, total, isRunning) : ["cell-fail", "cell-manual", "cell-pass", ""];
  while (bar.childElementCount > classes.length) bar.lastElementChild?.remove();
  while (bar.childElementCount < classes.length) bar.append(element("span", { class: "cell" }));
  const sizes = [counts.FAIL, counts.MANUAL, counts.PASS, Math.max(0, total - counts.done)];
  for (const [index, cell] of [...bar.children].entries()) {
    setClass(cell, `cell ${classes[index] ?? ""}`.trim());
    if (cell instanceof HTMLElement) cell.style.flexGrow = total <= maxCells ? "" : String(sizes[index] ?? 0);
  }
}

function toCellClasses(model: ScanModel, counts: CheckCounts, total: number, isRunning: boolean): readonly string[] {
  const inOrder = [...model.checks.values()].sort((a: CheckState, b: CheckState) => a.order - b.order);
  const known = inOrder.length === counts.PASS + counts.FAIL + counts.MANUAL;
  // Checks whose findings this page does not know still have their colour, if not their place.
  const statuses = known
    ? inOrder.map(({ status }) => status)
    : tileOrder.flatMap((status) => Array.from({ length: counts[status] }, () => status));
  return Array.from({ length: total }, (_cell, index) => {
    const status = statuses[index];
    if (status !== undefined) return `cell-${statusIcon(status)}`;
    if (index < counts.done) return "cell-done";
    return isRunning && index === Math.max(counts.done, statuses.length) ? "cell-next" : "";
  });
}
