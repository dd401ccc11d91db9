import { element, reconcile, setClass, setText } from "./dom.ts";
import { formatAgo, formatCount, formatOrg, formatTime, statusWords } from "./format.ts";
import { createMessage } from "./message_view.ts";
import type { Scan } from "./scan_wire.ts";
import type { ScansStore } from "./scans_store.ts";

export interface ScanListView {
  readonly element: HTMLElement;
  update(store: ScansStore, selectedId: string | null): void;
}

export function createScanListView(actions: { readonly loadMore: () => void }): ScanListView {
  const rows = new Map<string, ScanRow>();
  const list = element("ul", { class: "scan-list" });
  const problem = element("p", { class: "list-problem", attributes: { role: "status" } });
  const empty = createMessage({
    level: 3,
    title: "No scans yet",
    text: "Scans that report to this gateway appear here by themselves. Start one with an API key of this tenant:",
    code: "SCANSTREAM_URL=… SCANSTREAM_API_KEY=… scanstream scan",
  });
  const loading = element(
    "div",
    { class: "skeletons", attributes: { role: "status", "aria-label": "Loading scans" } },
    [
      element("span", { class: "skeleton" }),
      element("span", { class: "skeleton" }),
      element("span", { class: "skeleton" }),
    ],
  );
  const more = element("button", {
    class: "button button-quiet more",
    attributes: { type: "button" },
    on: { click: actions.loadMore },
  });
  return {
    element: element("nav", { class: "scans", attributes: { "aria-labelledby": "scans-title" } }, [
      element("h2", { text: "Scans", attributes: { id: "scans-title" } }),
      problem,
      loading,
      empty,
      list,
      more,
    ]),
    update(store, selectedId) {
      const nowMs = Date.now();
      loading.hidden = store.isLoaded || store.problem !== null;
      empty.hidden = !store.isLoaded || store.scans.length > 0;
      more.hidden = !store.hasMore;
      more.disabled = store.isLoadingMore;
      setText(more, store.isLoadingMore ? "Loading…" : "Load more");
      setText(problem, store.problem === null ? "" : `${store.problem}. Trying again by itself.`);
      reconcile(list, store.scans, rows, {
        key: ({ id }) => id,
        create: createScanRow,
        update: (row, scan) => row.update(scan, scan.id === selectedId, nowMs),
      });
    },
  };
}

interface ScanRow {
  readonly element: HTMLElement;
  update(scan: Scan, isSelected: boolean, nowMs: number): void;
}

function createScanRow(scan: Scan): ScanRow {
  const org = element("span", { class: "scan-org" });
  const badge = element("span");
  const time = element("time");
  const counts = element("span", { class: "scan-counts" });
  const bar = createMiniBar();
  const link = element("a", { class: "scan-link", attributes: { href: `#/scans/${scan.id}` } }, [
    element("span", { class: "scan-line" }, [org, badge]),
    bar.element,
    element("span", { class: "scan-line scan-small" }, [counts, time]),
  ]);
  return {
    element: element("li", {}, [link]),
    update(current, isSelected, nowMs) {
      setText(org, formatOrg(current));
      setText(badge, statusWords[current.status]);
      setClass(badge, `badge badge-${current.status}`);
      setText(counts, toCounts(current));
      bar.update(current);
      if (current.createdAtMs !== null) {
        setText(time, formatAgo(current.createdAtMs, nowMs));
        time.dateTime = new Date(current.createdAtMs).toISOString();
        time.title = formatTime(current.createdAtMs);
      }
      if (isSelected) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    },
  };
}

function toCounts({ pass, fail, manual, checksDone, checksTotal, status }: Scan): string {
  if (status === "pending") return "Not started";
  if (status === "running") return `${formatCount(checksDone)} of ${formatCount(checksTotal)} checks`;
  return fail + manual === 0
    ? `${formatCount(pass)} pass`
    : `${formatCount(fail)} fail · ${formatCount(manual)} manual`;
}

/** Decoration: the words below it say the same. */
function createMiniBar(): { readonly element: HTMLElement; update(scan: Scan): void } {
  const parts = (["fail", "manual", "pass", "rest"] as const).map((name) => ({
    name,
    element: element("span", { class: `mini-${name}` }),
  }));
  return {
    element: element(
      "span",
      { class: "mini-bar", attributes: { "aria-hidden": "true" } },
      parts.map((part) => part.element),
    ),
    update(scan) {
      const { pass, fail, manual } = scan;
      const rest = Math.max(0, scan.checksTotal - pass - fail - manual);
      const sizes = { fail, manual, pass, rest };
      for (const part of parts) part.element.style.flexGrow = String(sizes[part.name]);
    },
  };
}
