import type { ComponentChild } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import type { Caller } from "../../caller_wire.ts";
import { toCounts } from "../../scan_wire.ts";
import type { Api } from "../../model/api.ts";
import { actorOf, isUnexplained, toChecks } from "../../model/change_view.ts";
import { ruleName, revisionText } from "../../model/check_catalog.ts";
import { hasTried } from "../../model/connection.ts";
import type { DecisionStore } from "../../model/decisions/decision_store.ts";
import { formatDuration, formatOrg, formatTime, formatVerdict } from "../../model/format.ts";
import { followMonitor, type MonitorFollower } from "../../model/monitor_follower.ts";
import { explainWatch, watchStateOf, watchWords, type WatchState } from "../../model/watch_state.ts";
import type { Finding } from "../../model/scan_model.ts";
import type { Change, Monitor } from "../../monitor_wire.ts";
import { BackLink, Message, Tiles } from "../basics.tsx";
import { LastScanCauses, useLastScan } from "../causes.tsx";
import { Checks, chooseRule } from "../checks.tsx";
import { Announcement, ConnectionState } from "../connection.tsx";
import { useDeciding } from "../decisions/use_deciding.tsx";
import { Findings } from "../findings.tsx";
import { useFindingAddress, useIsLate, useNow, useStore, useTitle } from "../hooks.ts";
import { History, Timeline } from "./timeline.tsx";

const manyFindings = 1000;
const manyFindingsPauseMs = 120;

interface MonitorPageProps {
  readonly api: Api;
  readonly caller: Caller;
  readonly monitorId: string;
  readonly decisions: DecisionStore;
  /** The organization's last scan; null: not known. */
  readonly scanId?: string | null;
  /** Content of the page between the present state and the findings. */
  readonly more?: ComponentChild;
  /** Called with what is known of the monitor whenever that changed. */
  readonly onMonitor: (monitor: Monitor) => void;
  /** Starts over with this monitor. */
  readonly onReopen: () => void;
}

/** One organization, live: its present verdicts, and what moved. */
export function MonitorPage(props: MonitorPageProps) {
  const { api, caller, monitorId, decisions, scanId = null, more, onMonitor, onReopen } = props;
  const [follower, frame] = useStore(
    (onChange) => followMonitor(api, monitorId, onChange),
    ({ findings }) => (findings.size > manyFindings ? manyFindingsPauseMs : 0),
  );
  const { monitor, connection, findings } = follower;
  const address = useFindingAddress();
  const { filter } = address;
  const { index, onDecide, dialog } = useDeciding({
    api,
    caller,
    decisions,
    orgUrl: monitor?.orgUrl ?? null,
    findings,
  });
  const lastScan = useLastScan(api, scanId);
  const isRead = connection.refetchedAtMs !== null;
  // What is read last would push down what was read first.
  const isWhole = hasTried(connection) && lastScan.name !== "loading";
  const isShown = useIsLate() || isWhole;
  const checks = useMemo(
    () => toChecks(findings.values()),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the map changes in place: a frame says that it did
    [findings, frame],
  );
  const isFailed = monitor === null && connection.state === "failed";
  const emptyText = isRead
    ? "No results yet."
    : connection.problem === null
      ? "Loading findings…"
      : "The findings could not be read yet.";
  useTitle(monitor === null ? null : `${monitor.fail} fail · ${formatOrg(monitor)}`);
  useLayoutEffect(() => scrollTo(0, 0), []);
  useEffect(() => {
    if (monitor !== null) onMonitor(monitor);
  }, [monitor, onMonitor]);
  const readHistory = useCallback(
    (finding: Finding) => (
      <History
        fingerprint={finding.fingerprint}
        version={`${finding.detail} ${finding.sinceMs ?? ""}`}
        read={follower.readHistory}
      />
    ),
    [follower],
  );

  return (
    <article class="scan monitor" aria-labelledby="scan-title">
      <header class="scan-head">
        <BackLink />
        <div class="scan-title row wrap">
          <h1 id="scan-title">
            {monitor !== null ? formatOrg(monitor) : isFailed ? "This organization cannot be shown" : "Loading…"}
          </h1>
        </div>
        <p class="scan-meta text">
          {monitor !== null && <MonitorFacts {...{ monitor, follower }} nowMs={api.nowMs} />}
        </p>
        <div class="scan-actions row wrap">
          <ConnectionState
            connection={connection}
            retryNow={connection.state === "failed" ? onReopen : follower.retryNow}
          />
        </div>
      </header>
      {isFailed && (
        <Message
          level={2}
          title="The gateway refused the request"
          text={connection.problem ?? "It did not say why."}
          action={{ label: "Try again", run: onReopen }}
        />
      )}
      <p class="problem tinted tone-fail" role="alert">
        {monitor?.errorDetail}
      </p>
      {monitor !== null && (
        <div class="scan-content">
          <MonitorAnnouncement monitor={monitor} follower={follower} nowMs={api.nowMs} />
          <section class="card" aria-labelledby="state-title">
            <h2 id="state-title">Rules now</h2>
            <Tiles counts={toCounts(monitor)} />
          </section>
          {!isShown && <p role="status">Loading findings…</p>}
          {isShown && <LastScanCauses lastScan={lastScan} findings={findings} frame={frame} decisions={index} />}
          {isShown && more}
          {isShown && (
            <div class="split">
              <div class="monitor-side">
                <Timeline follower={follower} filter={filter} />
                <Checks
                  checks={checks}
                  isWorstFirst
                  note={checks.length > 0 ? "" : emptyText}
                  chosen={filter.check}
                  choose={(check) => chooseRule(address, check)}
                  decisions={index}
                />
              </div>
              <Findings
                findings={findings}
                frame={frame}
                emptyText={emptyText}
                address={address}
                readText={`By the monitor, which reads the org's log every ${formatDuration(monitor.intervalSeconds * 1000)}`}
                onOpen={doNothing}
                more={readHistory}
                decisions={index}
                decisionStore={decisions}
                onDecide={onDecide}
              />
            </div>
          )}
        </div>
      )}
      {dialog}
    </article>
  );
}

function doNothing(): void {}

interface WatchedMonitor {
  readonly monitor: Monitor;
  readonly follower: MonitorFollower;
  readonly nowMs: () => number;
}

/** Says if the organization is watched, and so how far the results below can be trusted. */
function MonitorFacts(watched: WatchedMonitor) {
  useNow();
  const state = stateNow(watched);
  const isBad = state === "stale" || state === "blind" || state === "unknown";
  return (
    <>
      <span class={isBad ? "inked tone-fail strong" : ""} data-watch={state}>
        {explainWatch(state, watched.monitor, watched.nowMs())}
      </span>
      {toFacts(watched.monitor)}
    </>
  );
}

function stateNow({ monitor, follower: { connection }, nowMs }: WatchedMonitor): WatchState {
  const isConnected = connection.state === "live" || connection.state === "ended";
  return isConnected ? watchStateOf(monitor, nowMs()) : "unknown";
}

function toFacts({ createdAtMs, clientId, benchmark }: Monitor): string {
  const parts = createdAtMs === null ? [""] : ["", `Watched since ${formatTime(createdAtMs)}`];
  const revision = revisionText(benchmark);
  if (revision !== null) parts.push(revision);
  if (clientId !== null && clientId !== "") parts.push(`client ${clientId}`);
  return parts.join(" · ");
}

/** Says a change of the state, and the newest change that came while the page watched. */
function MonitorAnnouncement(watched: WatchedMonitor) {
  const { follower } = watched;
  useNow();
  const newest = follower.changes[0];
  const change = newest !== undefined && follower.freshIds.has(newest.id) ? ` ${toSentence(newest)}` : "";
  return <Announcement text={`${watchWords[stateNow(watched)]}.${change}`} />;
}

function toSentence(change: Change): string {
  const { check, from, to, resource, explained_by: events } = change;
  const verdicts = [from === null ? "new" : formatVerdict(from), to === null ? "gone" : formatVerdict(to)];
  const [first] = events;
  const who = isUnexplained(change)
    ? "unexplained"
    : `by ${(first === undefined ? null : actorOf(first)) ?? "someone the log does not name"}`;
  return `${ruleName(check)}, ${resource.name}: ${verdicts.join(" to ")}, ${who}.`;
}
