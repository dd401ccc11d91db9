import type { Status } from "../../shared/report.ts";
import { checkTitle, findCheck } from "./check_catalog.ts";
import { element, reconcile, setText } from "./dom.ts";
import { formatCount } from "./format.ts";
import { statusTag } from "./icons.ts";
import { countChecks } from "./progress_view.ts";
import type { CheckState, ScanModel } from "./scan_model.ts";
import { isEnded } from "./scan_wire.ts";

export interface ChecksView {
  readonly element: HTMLElement;
  update(model: ScanModel, chosenCheck: string | null): void;
}

/** The checks as they finish; once the scan ended, the worst first. */
export function createChecksView(actions: { readonly choose: (check: string) => void }): ChecksView {
  const rows = new Map<string, CheckRow>();
  const body = element("tbody");
  const note = element("p", { class: "card-note" });
  const table = element("table", { class: "checks-table" }, [
    element("caption", {
      class: "visually-hidden",
      text: "Finished checks with their result. A check's button shows only its findings.",
    }),
    element("thead", {}, [
      element(
        "tr",
        {},
        ["Result", "Check", "Findings"].map((text) => element("th", { text, attributes: { scope: "col" } })),
      ),
    ]),
    body,
  ]);
  return {
    element: element("section", { class: "card checks", attributes: { "aria-labelledby": "checks-title" } }, [
      element("h2", { text: "Checks", attributes: { id: "checks-title" } }),
      table,
      note,
    ]),
    update(model, chosenCheck) {
      const { scan } = model;
      const isOver = scan !== null && isEnded(scan.status);
      const checks = [...model.checks.values()].sort(isOver ? byWorst : (a, b) => a.order - b.order);
      table.hidden = checks.length === 0;
      reconcile(body, checks, rows, {
        key: ({ check }) => check,
        create: ({ check }) => createCheckRow(check, actions.choose),
        update: (row, state) => row.update(state, state.check === chosenCheck),
      });
      if (scan === null) return;
      const counts = countChecks(model, scan);
      setText(note, toNote(checks.length, counts.done, Math.max(scan.checksTotal, counts.done), isOver));
    },
  };
}

function toNote(shown: number, done: number, total: number, isOver: boolean): string {
  const unseen = done - shown;
  const parts: string[] = [];
  if (unseen > 0) parts.push(`${formatCount(unseen)} finished without findings in this list`);
  if (total - done > 0) parts.push(`${formatCount(total - done)} ${isOver ? "not evaluated" : "still to come"}`);
  if (parts.length === 0 && shown === 0) return isOver ? "No check was evaluated." : "Waiting for the first check…";
  return parts.join(" · ");
}

interface CheckRow {
  readonly element: HTMLElement;
  update(state: CheckState, isChosen: boolean): void;
}

function createCheckRow(check: string, choose: (check: string) => void): CheckRow {
  const info = findCheck(check);
  const result = element("td", { class: "cell-result" });
  const facts = element("span", { class: "check-facts" });
  const count = element("td", { class: "cell-count" });
  const button = element(
    "button",
    { class: "check-button", attributes: { type: "button" }, on: { click: () => choose(check) } },
    [
      element("span", { class: "check-title", text: checkTitle(check) }),
      facts,
      element("span", { class: "check-name", text: check, attributes: { title: check } }),
    ],
  );
  let shownStatus: Status | null = null;
  return {
    element: element("tr", { class: "fresh" }, [
      result,
      element("th", { attributes: { scope: "row" } }, [button]),
      count,
    ]),
    update(state, isChosen) {
      if (state.status !== shownStatus) result.replaceChildren(statusTag(state.status));
      shownStatus = state.status;
      const severity = state.severity ?? info?.severity ?? null;
      setText(facts, [info?.stigId ?? null, severity].filter((part) => part !== null).join(" · "));
      setText(count, formatCount(state.findingCount));
      button.setAttribute("aria-pressed", String(isChosen));
    },
  };
}

const rank: Readonly<Record<string, number>> = { FAIL: 0, MANUAL: 1, PASS: 2, high: 0, medium: 1, low: 2 };

function byWorst(a: CheckState, b: CheckState): number {
  return (
    (rank[a.status] ?? 0) - (rank[b.status] ?? 0) ||
    (rank[a.severity ?? "medium"] ?? 1) - (rank[b.severity ?? "medium"] ?? 1) ||
    a.order - b.order
  );
}
