import { useEffect, useState } from "preact/hooks";
import { decisionText, orgPolicyText, groupChanges, groupText } from "../../../../shared/change_groups.ts";
import { stateOf } from "../../../../shared/rule_result.ts";
import { toMonitorPath } from "../../model/api.ts";
import { actorOf, filterChanges, isUnexplained } from "../../model/change_view.ts";
import { ruleName } from "../../model/check_catalog.ts";
import type { FindingsFilter } from "../../model/findings_filter.ts";
import { formatCount, formatDay, zoneName } from "../../model/format.ts";
import type { MonitorFollower } from "../../model/monitor_follower.ts";
import type { Change } from "../../monitor_wire.ts";
import { Icon, MoreButton, StateTag, Time } from "../basics.tsx";
import { reasonWords } from "../finding_row.tsx";
import { memo, useZone } from "../hooks.ts";

/** Entries at once: the older ones are a page further. */
const entriesPerPage = 40;

/** What moved, newest first, by day, with who did it. */
export function Timeline({
  follower,
  filter,
}: {
  readonly follower: MonitorFollower;
  readonly filter: FindingsFilter;
}) {
  useZone();
  const { changes, freshIds, hasMore, isCut, problem, connection } = follower;
  const [isUnexplainedOnly, setUnexplainedOnly] = useState(false);
  const [page, setPage] = useState(0);
  const matching = filterChanges(changes, filter);
  const unexplainedCount = matching.filter(isUnexplained).length;
  const shown = isUnexplainedOnly ? matching.filter(isUnexplained) : matching;
  const isFiltered = shown.length < changes.length;
  const groups = groupChanges(shown);
  const lastPage = Math.max(0, Math.ceil(groups.length / entriesPerPage) - 1);
  const first = Math.min(page, lastPage) * entriesPerPage;
  const days = groupByDay(groups.slice(first, first + entriesPerPage));
  return (
    <section class="card timeline" aria-labelledby="timeline-title">
      <h2 id="timeline-title">Changes</h2>
      <div class="findings-bar row spread note">
        <p>
          {isFiltered
            ? `${formatCount(shown.length)} of ${toChanges(changes.length)} that are loaded match the filters`
            : `${toChanges(changes.length)}${hasMore || isCut ? " loaded" : ""}`}
        </p>
        <button
          type="button"
          class="chip row timeline-unexplained"
          aria-pressed={isUnexplainedOnly}
          onClick={() => setUnexplainedOnly(!isUnexplainedOnly)}
        >
          Unexplained
          <span class="chip-count">{formatCount(unexplainedCount)}</span>
        </button>
      </div>
      {days.map(({ day, groups: ofDay, atMs }) => (
        <section key={day} aria-label={day}>
          <h3 class="timeline-day row spread">
            {day}
            <span class="fine">{zoneName(atMs)}</span>
          </h3>
          <ol class="changes">
            {ofDay.map((group) => (
              <ChangeGroup key={group.at(-1)?.id} group={group} freshIds={freshIds} />
            ))}
          </ol>
        </section>
      ))}
      {shown.length === 0 && (
        <p class="card-note note">
          {changes.length > 0
            ? "No change matches these filters."
            : connection.refetchedAtMs !== null
              ? "Nothing has changed since monitoring began."
              : connection.problem === null
                ? "Loading changes…"
                : "The changes could not be read yet."}
        </p>
      )}
      {lastPage > 0 && (
        <div class="row spread">
          <button type="button" class="button button-small" disabled={first === 0} onClick={() => setPage(page - 1)}>
            Newer
          </button>
          <span class="fine">{`Page ${Math.min(page, lastPage) + 1} of ${lastPage + 1}`}</span>
          <button
            type="button"
            class="button button-small"
            disabled={page >= lastPage}
            onClick={() => setPage(Math.min(page, lastPage) + 1)}
          >
            Older
          </button>
        </div>
      )}
      <p class="problem tinted tone-fail" role="alert">
        {problem}
      </p>
      {page >= lastPage && <MoreButton list={follower} label="Load older changes" />}
      {isCut && (
        <p class="card-note note">
          {`This page keeps the newest ${toChanges(changes.length)}. Open a finding for its own changes, or read all at `}
          <code>{`/${toMonitorPath(follower.monitor?.id ?? "")}/changes`}</code>.
        </p>
      )}
    </section>
  );
}

type Group = readonly Change[];

/** In the zone that is shown, newest first as they come. */
function groupByDay(groups: readonly Group[]) {
  const days: { readonly day: string; readonly atMs: number; readonly groups: Group[] }[] = [];
  for (const group of groups) {
    const atMs = Date.parse(group[0]?.seen_at ?? "");
    const day = formatDay(atMs);
    const last = days.at(-1);
    if (last?.day === day) last.groups.push(group);
    else days.push({ day, atMs, groups: [group] });
  }
  return days;
}

function toChanges(count: number): string {
  return count === 1 ? "1 change" : `${formatCount(count)} changes`;
}

const rowsOfGroup = 100;

/** What one act of a person moved is one entry; it opens into its changes, which are made only then. */
function ChangeGroup({
  group,
  freshIds,
}: {
  readonly group: readonly Change[];
  readonly freshIds: ReadonlySet<string>;
}) {
  const [isOpen, setOpen] = useState(false);
  const [first] = group;
  if (first === undefined || group.length === 1) {
    return first === undefined ? null : <ChangeRow change={first} isFresh={freshIds.has(first.id)} hasName />;
  }
  return (
    <li class="change change-group">
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <span class="fine">
            <Time atMs={Date.parse(first.seen_at)} isClockOnly />
          </span>{" "}
          <span class="strong">{groupText(group)}</span>
        </summary>
        <ol class="changes">
          {group.slice(0, isOpen ? rowsOfGroup : 0).map((change) => (
            <ChangeRow key={change.id} change={change} isFresh={freshIds.has(change.id)} hasName />
          ))}
        </ol>
        {group.length > rowsOfGroup && (
          <p class="note">{`and ${formatCount(group.length - rowsOfGroup)} more: filter them by rule or text`}</p>
        )}
      </details>
    </li>
  );
}

interface ChangeRowProps {
  readonly change: Change;
  readonly isFresh: boolean;
  /** With the check and the resource; in a finding's own history they are said already. */
  readonly hasName: boolean;
}

const ChangeRow = memo(({ change, isFresh, hasName }: ChangeRowProps) => {
  const { check, from, to, resource, seen_at } = change;
  return (
    <li class={`change${isUnexplained(change) ? " change-unexplained" : ""}${isFresh ? " fresh" : ""}`}>
      <p class="change-head row wrap">
        <span class="fine">
          <Time atMs={Date.parse(seen_at)} isClockOnly={hasName} />
        </span>
        <span class="row change-verdicts">
          {from === null ? <span class="fine">New</span> : <StateTag state={stateOf(from)} />}
          {change.from_waived && <span class="fine">waived</span>}
          <Icon name="chevron" />
          <span class="visually-hidden"> to </span>
          {to === null ? <span class="fine">Gone</span> : <StateTag state={stateOf(to)} />}
          {change.to_waived && <span class="fine">waived</span>}
        </span>
      </p>
      {hasName && (
        <p>
          <span class="strong">{resource.name === "" ? "Unnamed resource" : resource.name}</span>
          <span class="fine">{` · ${ruleName(check)}`}</span>
        </p>
      )}
      {change.actual !== "" && to !== null && <p class="text">{change.actual}</p>}
      {to !== null && to.reason !== null && <p class="text">{reasonWords[to.reason]}</p>}
      <p class="fine">
        <Cause change={change} />
      </p>
    </li>
  );
});

/** Who, and how. */
function Cause({ change }: { readonly change: Change }) {
  const { cause, explained_by: events } = change;
  if (cause === "start") return <>Initial state</>;
  if (cause === "decision") return <>{decisionText(change)}</>;
  if (cause === "org_policy") return <>{orgPolicyText}</>;
  if (isUnexplained(change)) {
    return (
      <span class="inked tone-manual strong row">
        <Icon name="manual" />
        Unexplained: found by a full scan; no event in Okta's log says who
      </span>
    );
  }
  const actors = new Set(events.map((event) => actorOf(event) ?? "someone the log does not name"));
  const types = new Set(events.map(({ event_type }) => event_type));
  return (
    <>
      {"by "}
      <span class="strong">{[...actors].join(", ")}</span>
      {` · ${[...types].join(", ")}`}
    </>
  );
}

/** One finding's own changes, read when it is opened and whenever it changes. */
export function History(props: {
  readonly fingerprint: string;
  /** Changes when there is something new to read. */
  readonly version: string;
  readonly read: MonitorFollower["readHistory"];
}) {
  const { fingerprint, version, read } = props;
  const [history, setHistory] = useState<readonly Change[] | null>(null);
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    const closing = new AbortController();
    read(fingerprint, closing.signal).then(setHistory, () => {
      if (!closing.signal.aborted) setFailed(true);
    });
    return () => closing.abort();
  }, [fingerprint, version, read]);
  return (
    <section class="history">
      <h3>History</h3>
      {history === null && <p class="fine">{hasFailed ? "The history could not be read." : "Loading…"}</p>}
      <ol class="changes">
        {history?.map((change) => (
          <ChangeRow key={change.id} change={change} isFresh={false} hasName={false} />
        ))}
      </ol>
    </section>
  );
}
