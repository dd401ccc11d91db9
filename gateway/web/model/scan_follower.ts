import { pause } from "../../../shared/abortable.ts";
import { toPath, type Api } from "./api.ts";
import {
  continueAfterExpiry,
  noConnection,
  rethrowAsFinal,
  toConnection,
  toFinalError,
  toProblem,
  type Connection,
} from "./connection.ts";
import { followResource } from "./resource_stream.ts";
import { createScanModel, type ScanModel } from "./scan_model.ts";
import { isEnded, parseScan } from "../scan_wire.ts";

/** One scan, kept true: state on every open of the stream, then events. */
export interface ScanFollower {
  readonly model: ScanModel;
  readonly connection: Connection;
  readonly retryNow: () => void;
  /** Reads what REST knows of findings that came as events. */
  readonly fill: () => void;
  /** Asks the scanner to stop. Rejects with `ApiError`. */
  cancel(): Promise<void>;
  close(): void;
}

const pageLimit = 200;
const retryEveryMs = 3000;
/** Part of a frame's 16 ms: a burst of events must not freeze the page. */
const workBudgetMs = 8;

export function followScan(api: Api, scanId: string, onChange: () => void): ScanFollower {
  const model = createScanModel();
  const closing = new AbortController();
  let connection = noConnection;
  let retryNow = (): void => undefined;
  /** Where the last page of findings begins: what is stored later is found from there on. */
  let tailCursor: string | null = null;
  /** The stream has given the scan; the findings are still to be read. */
  let hasSnapshot = false;
  let filling: Promise<void> | null = null;
  let isReadDue = false;
  const yieldToBrowser = createYield(workBudgetMs, closing.signal);

  const connect = (change: Partial<Connection>) => {
    connection = { ...connection, ...change };
    onChange();
  };

  async function loadScan(signal: AbortSignal): Promise<void> {
    model.setScan(await api.getScan(scanId, signal));
    onChange();
  }

  async function loadFindings(from: string | null, signal: AbortSignal): Promise<void> {
    let cursor = from;
    for (;;) {
      const page = await api.listFindings(scanId, { limit: pageLimit, cursor, signal });
      model.mergeFindings(page.items);
      tailCursor = cursor;
      onChange();
      if (page.nextCursor === null) return;
      cursor = page.nextCursor;
    }
  }

  async function load(signal: AbortSignal): Promise<void> {
    if (!hasSnapshot) await loadScan(signal);
    hasSnapshot = false;
    await loadFindings(null, signal);
    connect({ refetchedAtMs: api.nowMs() });
  }

  async function start(): Promise<void> {
    try {
      await loadScan(closing.signal);
      // It has ended: there is state, and no stream to open.
      if (model.scan !== null && isEnded(model.scan.status)) {
        await loadFindings(null, closing.signal);
        connect({ state: "ended", refetchedAtMs: api.nowMs() });
        return;
      }
    } catch (error) {
      if (closing.signal.aborted) return;
      if (toFinalError(error) !== null) {
        connect({ state: "failed", problem: toProblem(error) });
        return;
      }
      // Retried below, with backoff.
      connect({ state: "reconnecting", problem: toProblem(error) });
    }
    if (!closing.signal.aborted) follow();
  }

  function follow(): void {
    retryNow = followResource(api, {
      signal: closing.signal,
      path: toPath(scanId),
      onSnapshot(data) {
        if (data === undefined) return;
        model.setScan(parseScan(data));
        hasSnapshot = true;
        onChange();
      },
      refetch: (signal) => rethrowAsFinal(load(signal)),
      onEvent: (type, data) => {
        model.applyEvent(type, data);
        onChange();
        return yieldToBrowser();
      },
      onStateChange: (state, detail) => {
        // For an ended scan there is no snapshot.
        if (state === "reconnecting") hasSnapshot = false;
        if (continueAfterExpiry(detail, () => retryNow())) return;
        // With a terminal event the state is read once more first: it says more than the events did.
        if (state !== "ended") connect(toConnection(state, detail));
      },
      onEnded: (hasEvent) => void finish(hasEvent),
    });
  }

  async function finish(hasMoreToLoad: boolean): Promise<void> {
    connect({ state: "ended", problem: null, retryAtMs: null });
    for (let isLoaded = !hasMoreToLoad; !isLoaded && !closing.signal.aborted;) {
      try {
        await load(closing.signal);
        isLoaded = true;
      } catch (error) {
        if (closing.signal.aborted || toFinalError(error) !== null) return;
        await pause(retryEveryMs, [closing.signal]);
      }
    }
  }

  function fill(): void {
    if (!model.isIncomplete || closing.signal.aborted) return;
    isReadDue = filling !== null;
    if (isReadDue) return;
    filling = loadFindings(tailCursor, closing.signal)
      // The connection's own state shows the failure; the next finding that is opened retries.
      .catch(() => undefined)
      .finally(() => {
        filling = null;
        if (isReadDue) fill();
      });
  }

  async function cancel(): Promise<void> {
    model.setScan(await api.cancelScan(scanId, closing.signal));
    onChange();
  }

  void start();
  return {
    model,
    get connection() {
      return connection;
    },
    retryNow: () => retryNow(),
    fill,
    cancel,
    close: () => closing.abort(),
  };
}

/**
 * For a loop over many things: returns nothing while it has worked for less than `budgetMs`, and then a promise that
 * resolves after waiting input and frames had their turn.
 */
function createYield(budgetMs: number, signal: AbortSignal): () => Promise<void> | undefined {
  let workingSinceMs = performance.now();
  // Not a timer: in a hidden tab that comes only once a second.
  const { port1, port2 } = new MessageChannel();
  const waiting: (() => void)[] = [];
  port1.addEventListener("message", () => {
    workingSinceMs = performance.now();
    waiting.shift()?.();
  });
  port1.start();
  signal.addEventListener("abort", () => port1.close());
  return () => {
    if (performance.now() - workingSinceMs < budgetMs) return undefined;
    return new Promise((resolve) => {
      waiting.push(resolve);
      port2.postMessage(null);
    });
  };
}
