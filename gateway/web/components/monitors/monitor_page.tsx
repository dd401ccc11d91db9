import { useCallback, useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { toCounts } from "../../scan_wire.ts";
import type { Api } from "../../model/api.ts";
import { actorOf, isUnexplained, toChecks } from "../../model/change_view.ts";
import { checkTitle, revisionText } from "../../model/check_catalog.ts";
import { noFilter } from "../../model/findings_filter.ts";
import { formatOrg, formatTime, formatVerdict } from "../../model/format.ts";
import { followMonitor, type MonitorFollower } from "../../model/monitor_follower.ts";
import { pulseOf } from "../../model/monitor_pulse.ts";
import type { Finding } from "../../model/scan_model.ts";
import type { Change, Monitor } from "../../monitor_wire.ts";
import { Icon, Message, Tiles } from "../basics.tsx";
import { Checks } from "../checks.tsx";
import { Announcement, ConnectionState } from "../connection.tsx";
import { Findings } from "../findings.tsx";
import { useNow, useStore, useTitle } from "../hooks.ts";
import { PulseCard, pulseLooks } from "./pulse.tsx";
import { History, Timeline } from "./timeline.tsx";

const manyFindings = 1000;
const manyFindingsPauseMs = 120;

interface MonitorPageProps {
  readonly api: Api;
  readonly monitorId: string;
  /** Called with what is known of the monitor whenever that changed. */
  readonly onMonitor: (monitor: Monitor) => void;
  /** Starts over with this monitor. */
  readonly onReopen: () => void;
}

/** One organization, live: its present verdicts, and what moved. */
export function MonitorPage({ api, monitorId, onMonitor, onReopen }: MonitorPageProps) {
  const [follower, frame] = useStore(
    (onChange) => followMonitor(api, monitorId, onChange),
    ({ findings }) => (findings.size > manyFindings ? manyFindingsPauseMs : 0),
  );
  const { monitor, connection, findings } = follower;
  const [filter, setFilter] = useState(noFilter);
  const checks = useMemo(
    () => toChecks(findings.values()),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the map changes in place: a frame says that it did
    [findings, frame],
  );
  const isFailed = monitor === null && connection.state === "failed";
  useTitle(monitor === null ? null : `${monitor.fail} fail · ${formatOrg(monitor)}`);
  useLayoutEffect(() => scrollTo(0, 0), []);
  useEffect(() => {
    if (monitor !== null) onMonitor(monitor);
  }, [monitor, onMonitor]);
  const readHistory = useCallback(
    (finding: Finding) => (
      <History fingerprint={finding.fingerprint} version={finding.detail} read={follower.readHistory} />
    ),
    [follower],
  );

  return (
    <article class="scan monitor" aria-labelledby="scan-title">
      <header class="scan-head">
        <a class="back row strong" href="#/">
          <Icon name="back" />
          All organizations
        </a>
        <div class="scan-title row wrap">
          <h1 id="scan-title">
            {monitor !== null ? formatOrg(monitor) : isFailed ? "This organization cannot be shown" : "Loading…"}
          </h1>
        </div>
        <p class="scan-meta text">{monitor !== null && toFacts(monitor)}</p>
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
          title="The gateway refused it"
          text={connection.problem ?? "It did not say why."}
          action={{ label: "Try again", run: onReopen }}
        />
      )}
      {monitor !== null && (
        <div class="scan-content">
          <MonitorAnnouncement monitor={monitor} follower={follower} nowMs={api.nowMs} />
          <div class="overview">
            <section class="card" aria-labelledby="state-title">
              <h2 id="state-title">Checks now</h2>
              <Tiles counts={toCounts(monitor)} />
            </section>
            <PulseCard monitor={monitor} disconnectedSinceMs={toDisconnected(follower)} nowMs={api.nowMs} />
          </div>
          <div class="split">
            <div class="monitor-side">
              <Timeline follower={follower} filter={filter} />
              <Checks
                checks={checks}
                isWorstFirst
                note={checks.length === 0 ? "No verdict yet." : ""}
                chosen={filter.check}
                choose={(check) => setFilter({ ...filter, check: check === filter.check ? null : check })}
              />
            </div>
            <Findings
              findings={findings}
              frame={frame}
              emptyText="No verdict yet."
              filter={filter}
              setFilter={setFilter}
              onOpen={() => undefined}
              more={readHistory}
            />
          </div>
        </div>
      )}
    </article>
  );
}

function toFacts({ createdAtMs, clientId, benchmark }: Monitor): string {
  const parts = createdAtMs === null ? [] : [`Watched since ${formatTime(createdAtMs)}`];
  const revision = revisionText(benchmark);
  if (revision !== null) parts.push(revision);
  if (clientId !== null && clientId !== "") parts.push(`client ${clientId}`);
  return parts.join(" · ");
}

function toDisconnected({ connection }: MonitorFollower): number | null {
  return connection.state === "live" || connection.state === "ended" ? null : connection.refetchedAtMs;
}

/** Says a change of the pulse, and the newest change that came while the page watched. */
function MonitorAnnouncement(props: {
  readonly monitor: Monitor;
  readonly follower: MonitorFollower;
  readonly nowMs: () => number;
}) {
  const { monitor, follower, nowMs } = props;
  useNow();
  const newest = follower.changes[0];
  const change = newest !== undefined && follower.freshIds.has(newest.id) ? ` ${toSentence(newest)}` : "";
  const pulse = toDisconnected(follower) === null ? pulseOf(monitor, nowMs()) : "unknown";
  return <Announcement text={`${pulseLooks[pulse].words}.${change}`} />;
}

function toSentence(change: Change): string {
  const { check, from, to, resource, explained_by: events } = change;
  const verdicts = [from === null ? "new" : formatVerdict(from), to === null ? "gone" : formatVerdict(to)];
  const [first] = events;
  const who = isUnexplained(change)
    ? "unexplained"
    : `by ${(first === undefined ? null : actorOf(first)) ?? "an unnamed actor"}`;
  return `${checkTitle(check)}, ${resource.name}: ${verdicts.join(" to ")}, ${who}.`;
}
