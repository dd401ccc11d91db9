import { ApiError, type Api } from "./api.ts";
import { createAnnouncer } from "./announcer.ts";
import { createChecksView } from "./checks_view.ts";
import { createConnectionView } from "./connection_view.ts";
import { element, setClass, setText } from "./dom.ts";
import { createFindingsView } from "./findings_view.ts";
import { formatDuration, formatOrg, formatTime, statusWords } from "./format.ts";
import { createFrameRenderer } from "./frame.ts";
import { icon } from "./icons.ts";
import { createMessage } from "./message_view.ts";
import { countChecks, createProgressView, toProgressText } from "./progress_view.ts";
import { followScan } from "./scan_follower.ts";
import { isEnded, type Scan } from "./scan_wire.ts";
import { createTrendView } from "./trend_view.ts";

/** One scan on the page, followed until the view is closed. */
export interface ScanView {
  readonly element: HTMLElement;
  readonly scan: Scan | null;
  /** Other scans of the tenant, for the trend. */
  setHistory(scans: readonly Scan[]): void;
  close(): void;
}

const manyFindings = 1000;
const manyFindingsPauseMs = 120;

export function createScanView(
  scanId: string,
  options: { readonly api: Api; readonly onScan: (scan: Scan) => void; readonly onReopen: () => void },
): ScanView {
  const closing = new AbortController();
  let history: readonly Scan[] = [];
  let cancelProblem: string | null = null;
  let isCancelling = false;
  let renderedVersion = -1;
  let renderNotBeforeMs = 0;

  const renderer = createFrameRenderer(render);
  const follower = followScan(options.api, scanId, () => renderer.request());
  const { model } = follower;
  // The clock of a running scan, and the countdown of a reconnect.
  const ticking = setInterval(() => renderer.request(), 1000);
  // Whoever comes back to the page does not want to wait for the end of a pause.
  addEventListener("online", () => follower.retryNow(), { signal: closing.signal });
  document.addEventListener("visibilitychange", () => follower.retryNow(), { signal: closing.signal });

  const title = element("h1", { text: "Loading…", attributes: { id: "scan-title" } });
  const badge = element("span", { class: "badge" });
  const meta = element("p", { class: "scan-meta" });
  const connection = createConnectionView({
    retryNow: () => {
      if (follower.connection.state === "failed") options.onReopen();
      else follower.retryNow();
    },
  });
  const cancel = element("button", {
    class: "button button-danger",
    text: "Cancel scan",
    attributes: { type: "button", hidden: true },
    on: { click: () => void cancelScan() },
  });
  const problem = element("p", { class: "problem", attributes: { role: "alert" } });
  const problems = element("ul", { class: "scan-problems" });
  const announcer = createAnnouncer();
  const progress = createProgressView();
  const trend = createTrendView();
  const findings = createFindingsView({ onChange: () => renderAgain(), onOpen: () => follower.fill() });
  const checks = createChecksView({ choose: (check) => findings.toggleCheck(check) });
  const failed = element("div", { attributes: { hidden: true } });
  const content = element("div", { class: "scan-content" }, [
    element("div", { class: "overview" }, [progress.element, trend.element]),
    element("div", { class: "split" }, [checks.element, findings.element]),
  ]);

  function renderAgain(): void {
    renderedVersion = -1;
    renderNotBeforeMs = 0;
    renderer.request();
  }

  function render(): void {
    const { scan } = model;
    connection.update(follower.connection);
    renderFailure(scan);
    if (scan === null) return;
    renderHead(scan);
    if (model.version === renderedVersion || performance.now() < renderNotBeforeMs) {
      if (model.version !== renderedVersion) renderer.request();
      return;
    }
    renderedVersion = model.version;
    // What takes longer is done less often: a flood of findings leaves time for whoever reads them.
    if (model.findings.size > manyFindings) renderNotBeforeMs = performance.now() + manyFindingsPauseMs;
    progress.update(model);
    checks.update(model, findings.filter.check);
    findings.update(model);
    const { PASS: pass, FAIL: fail, MANUAL: manual } = countChecks(model, scan);
    const counted = { ...scan, pass, fail, manual };
    trend.update([...history.filter(({ id }) => id !== scanId), counted], scanId);
    options.onScan(counted);
    problems.replaceChildren(
      ...model.problems.map(({ code, detail }) => element("li", { text: detail === "" ? code : detail })),
    );
    announce(scan);
  }

  /** A scan that cannot be shown at all; one that was shown stays, and the connection says why it is no longer live. */
  function renderFailure(scan: Scan | null): void {
    const { state, problem: why } = follower.connection;
    const isFailed = scan === null && state === "failed";
    content.hidden = scan === null;
    failed.hidden = !isFailed;
    if (!isFailed || failed.childElementCount > 0) return;
    setText(title, "This scan cannot be shown");
    failed.replaceChildren(
      createMessage({
        level: 2,
        title: "The gateway refused it",
        text: why ?? "It did not say why.",
        action: { label: "Try again", run: options.onReopen },
      }),
    );
  }

  function renderHead(scan: Scan): void {
    const isOver = isEnded(scan.status);
    setText(title, formatOrg(scan));
    setText(badge, statusWords[scan.status]);
    setClass(badge, `badge badge-${scan.status}`);
    setText(meta, toMeta(scan));
    cancel.hidden = isOver;
    cancel.disabled = isCancelling || scan.cancelRequested;
    setText(cancel, scan.cancelRequested ? "Cancelling…" : isCancelling ? "Asking…" : "Cancel scan");
    setText(problem, cancelProblem ?? "");
    const { done } = countChecks(model, scan);
    document.title = `${isOver ? statusWords[scan.status] : `${done}/${scan.checksTotal}`} · ${formatOrg(scan)} · scanstream`;
  }

  function announce(scan: Scan): void {
    const counts = countChecks(model, scan);
    const text = toProgressText(counts, Math.max(scan.checksTotal, counts.done));
    announcer.say(isEnded(scan.status) ? `Scan ${statusWords[scan.status].toLowerCase()}. ${text}` : text);
  }

  async function cancelScan(): Promise<void> {
    isCancelling = true;
    cancelProblem = null;
    renderer.request();
    try {
      model.setScan(await options.api.cancelScan(scanId, closing.signal));
    } catch (error) {
      if (closing.signal.aborted) return;
      cancelProblem = `The scan could not be cancelled: ${error instanceof ApiError ? error.message : "the answer could not be read"}`;
    }
    isCancelling = false;
    renderer.request();
  }

  renderer.request();
  return {
    element: element("article", { class: "scan", attributes: { "aria-labelledby": "scan-title" } }, [
      element("header", { class: "scan-head" }, [
        element("a", { class: "back", attributes: { href: "#/" } }, [icon("back"), "All scans"]),
        element("div", { class: "scan-title" }, [title, badge]),
        meta,
        element("div", { class: "scan-actions" }, [connection.element, cancel]),
      ]),
      problem,
      problems,
      announcer.element,
      failed,
      content,
    ]),
    get scan() {
      return model.scan;
    },
    setHistory(scans) {
      history = scans;
      renderAgain();
    },
    close() {
      closing.abort();
      clearInterval(ticking);
      renderer.stop();
      announcer.close();
      findings.close();
      follower.close();
    },
  };
}

function toMeta(scan: Scan): string {
  const parts: string[] = [];
  const startedAtMs = scan.startedAtMs ?? scan.createdAtMs;
  if (startedAtMs !== null) {
    parts.push(`${scan.status === "pending" ? "Registered" : "Started"} ${formatTime(startedAtMs)}`);
    if (scan.status === "running") parts.push(`running for ${formatDuration(Date.now() - startedAtMs)}`);
    if (scan.endedAtMs !== null) parts.push(`took ${formatDuration(scan.endedAtMs - startedAtMs)}`);
  }
  if (scan.clientId !== null && scan.clientId !== "") parts.push(`client ${scan.clientId}`);
  return parts.join(" · ");
}
