import type { Severity, Status } from "../../shared/report.ts";
import { checkTitle } from "./check_catalog.ts";
import { element, reconcile, setText } from "./dom.ts";
import { createFindingRow, type FindingRow } from "./finding_row.ts";
import { filterFindings, noFilter, type FindingOrder, type FindingsFilter } from "./findings_filter.ts";
import { formatCount } from "./format.ts";
import { icon, statusIcon, statusNames } from "./icons.ts";
import type { ScanModel } from "./scan_model.ts";
import { isEnded } from "./scan_wire.ts";

export interface FindingsView {
  readonly element: HTMLElement;
  readonly filter: FindingsFilter;
  toggleCheck(check: string): void;
  update(model: ScanModel): void;
  close(): void;
}

/** Rows are made for what can be looked at; scrolling to their end, or the button there, makes more. */
const rowsAtFirst = 100;
const rowsAtATime = 100;

export function createFindingsView(actions: {
  readonly onChange: () => void;
  readonly onOpen: () => void;
}): FindingsView {
  const rows = new Map<string, FindingRow>();
  let filter = noFilter;
  let rowLimit = rowsAtFirst;

  function setFilter(change: Partial<FindingsFilter>): void {
    filter = { ...filter, ...change };
    rowLimit = rowsAtFirst;
    actions.onChange();
  }

  const statusChips = createChips<Status>("Result", ["FAIL", "MANUAL", "PASS"], {
    label: (status) => [icon(statusIcon(status)), statusNames[status]],
    onChange: (statuses) => setFilter({ statuses }),
  });
  const severityChips = createChips<Severity>("Severity", ["high", "medium", "low"], {
    label: (severity) => [`${severity.charAt(0).toUpperCase()}${severity.slice(1)}`],
    onChange: (severities) => setFilter({ severities }),
  });
  const search = element("input", {
    attributes: {
      id: "finding-text",
      type: "search",
      placeholder: "Filter by text",
      autocomplete: "off",
      spellcheck: "false",
    },
    on: { input: () => setFilter({ text: search.value }) },
  });
  const order = element(
    "select",
    { attributes: { id: "finding-order" }, on: { change: () => setFilter({ order: order.value as FindingOrder }) } },
    orders.map(([value, text]) => element("option", { text, attributes: { value } })),
  );
  const checkText = element("span");
  const checkChip = element("p", { class: "check-filter" }, [
    "Only ",
    checkText,
    element(
      "button",
      {
        class: "button button-small",
        attributes: { type: "button", "aria-label": "Show the findings of all checks" },
        on: { click: () => setFilter({ check: null }) },
      },
      [icon("close"), "All checks"],
    ),
  ]);
  const summary = element("p", { class: "findings-summary", attributes: { role: "status" } });
  const list = element("div", { class: "findings-list" });
  const empty = element("p", { class: "card-note findings-empty" });
  const more = element("button", {
    class: "button button-quiet more",
    attributes: { type: "button" },
    on: { click: () => showMore() },
  });
  const clear = element("button", {
    class: "button button-small",
    text: "Clear filters",
    attributes: { type: "button" },
    on: { click: () => clearFilters() },
  });
  const sentinel = new IntersectionObserver(
    (entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) showMore();
    },
    { rootMargin: "600px" },
  );
  sentinel.observe(more);

  function showMore(): void {
    rowLimit += rowsAtATime;
    actions.onChange();
  }

  function clearFilters(): void {
    search.value = "";
    statusChips.clear();
    severityChips.clear();
    setFilter({ ...noFilter, order: filter.order });
  }

  return {
    element: element("section", { class: "card findings", attributes: { "aria-labelledby": "findings-title" } }, [
      element("h2", { text: "Findings", attributes: { id: "findings-title" } }),
      element("div", { class: "filters", attributes: { role: "group", "aria-label": "Filter the findings" } }, [
        element("div", { class: "search" }, [
          icon("search"),
          element("label", { class: "visually-hidden", text: "Filter by text", attributes: { for: "finding-text" } }),
          search,
        ]),
        statusChips.element,
        severityChips.element,
        element("div", { class: "order" }, [
          element("label", { class: "visually-hidden", text: "Order", attributes: { for: "finding-order" } }),
          order,
        ]),
      ]),
      checkChip,
      element("div", { class: "findings-bar" }, [summary, clear]),
      list,
      empty,
      more,
    ]),
    get filter() {
      return filter;
    },
    toggleCheck(check) {
      setFilter({ check: filter.check === check ? null : check });
    },
    update(model) {
      const { shown, statusCounts, severityCounts } = filterFindings(model.findings.values(), filter);
      statusChips.update(filter.statuses, statusCounts);
      severityChips.update(filter.severities, severityCounts);
      reconcile(list, shown.slice(0, rowLimit), rows, {
        key: ({ fingerprint }) => fingerprint,
        create: (finding) => createFindingRow(finding, { onOpen: actions.onOpen }),
        update: (row, finding) => row.update(finding),
      });
      const total = model.findings.size;
      const isFiltered =
        filter.check !== null || filter.text !== "" || filter.statuses.size + filter.severities.size > 0;
      setText(summary, isFiltered ? `${formatCount(shown.length)} of ${toFindings(total)}` : toFindings(total));
      clear.hidden = !isFiltered;
      checkChip.hidden = filter.check === null;
      setText(checkText, filter.check === null ? "" : checkTitle(filter.check));
      more.hidden = shown.length <= rowLimit;
      setText(more, `Show more (${formatCount(shown.length - rowLimit)} not shown yet)`);
      empty.hidden = shown.length > 0;
      setText(empty, toEmptyText(model, total));
    },
    close: () => sentinel.disconnect(),
  };
}

const orders: readonly (readonly [FindingOrder, string])[] = [
  ["worst", "Worst first"],
  ["newest", "Newest first"],
  ["resource", "By resource"],
];

function toFindings(count: number): string {
  return count === 1 ? "1 finding" : `${formatCount(count)} findings`;
}

function toEmptyText(model: ScanModel, total: number): string {
  if (total > 0) return "No finding matches these filters.";
  if (model.scan !== null && isEnded(model.scan.status)) return "This scan has no findings.";
  return "Findings appear here as they are made.";
}

interface Chips<Value extends string> {
  readonly element: HTMLElement;
  clear(): void;
  update(chosen: ReadonlySet<Value>, counts: Readonly<Record<Value, number>>): void;
}

/** Choices of which none means all. */
function createChips<Value extends string>(
  name: string,
  values: readonly Value[],
  options: {
    readonly label: (value: Value) => readonly (Node | string)[];
    readonly onChange: (chosen: ReadonlySet<Value>) => void;
  },
): Chips<Value> {
  let chosen: ReadonlySet<Value> = new Set();
  const chips = values.map((value) => {
    const count = element("span", { class: "chip-count" });
    const button = element(
      "button",
      {
        class: `chip chip-${value.toLowerCase()}`,
        attributes: { type: "button", "aria-pressed": "false" },
        on: {
          click: () => {
            chosen = chosen.has(value)
              ? new Set([...chosen].filter((one) => one !== value))
              : new Set([...chosen, value]);
            options.onChange(chosen);
          },
        },
      },
      [...options.label(value), count],
    );
    return { value, button, count };
  });
  return {
    element: element(
      "div",
      { class: "chips", attributes: { role: "group", "aria-label": name } },
      chips.map(({ button }) => button),
    ),
    clear() {
      chosen = new Set();
    },
    update(current, counts) {
      for (const { value, button, count } of chips) {
        button.setAttribute("aria-pressed", String(current.has(value)));
        setText(count, formatCount(counts[value]));
      }
    },
  };
}
