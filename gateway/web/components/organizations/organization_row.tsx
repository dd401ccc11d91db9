import { actorOf } from "../../model/change_view.ts";
import { ruleName } from "../../model/check_catalog.ts";
import { formatAgo, formatCount, formatTime, formatVerdict } from "../../model/format.ts";
import type { LastChanges, LastChangesReader } from "../../model/last_changes.ts";
import { hasWatchProblem, notReviewed, type OverviewRow } from "../../model/overview.ts";
import { watchWords } from "../../model/watch_state.ts";

interface OrganizationRowProps {
  readonly row: OverviewRow;
  readonly lastChanges: LastChangesReader;
  readonly nowMs: number;
}

/** One line: whether it is watched, what is open, and what moved last. */
export function OrganizationRow({ row, lastChanges, nowMs }: OrganizationRowProps) {
  const { organization, watch } = row;
  const { id, name, cat1_open: cat1, cat2_open: cat2, last_scan_at: scannedAt } = organization;
  const monitorId = organization.monitor_id;
  const changes = monitorId === null ? null : lastChanges.of(monitorId);
  const open = notReviewed(organization);
  return (
    <tr class="organization">
      <td data-label="Watched">
        {watch === null ? (
          <span class="fine" title={scannedAt === null ? undefined : formatTime(Date.parse(scannedAt))}>
            {scannedAt === null ? "Not scanned yet" : `Scanned ${formatAgo(Date.parse(scannedAt), nowMs)}`}
          </span>
        ) : (
          <span class={hasWatchProblem(row) ? "inked tone-fail strong" : ""}>{watchWords[watch]}</span>
        )}
      </td>
      <th scope="row">
        <a class="organization-link strong one-line" href={`#/organizations/${id}`} title={name}>
          {name.slice(0, 200)}
        </a>
      </th>
      <td data-label="CAT I" class={cat1 > 0 ? "inked tone-fail strong" : "fine"}>
        {formatCount(cat1)}
      </td>
      <td data-label="CAT II" class={cat2 > 0 ? "strong" : "fine"}>
        {formatCount(cat2)}
      </td>
      <td data-label="Not reviewed" class={open > 0 ? "" : "fine"}>
        {formatCount(open)}
      </td>
      <td data-label="Last change" class="organization-change">
        <LastChange hasMonitor={monitorId !== null} changes={changes} nowMs={nowMs} />
      </td>
      <td data-label="Unexplained" class={(changes?.unexplained.length ?? 0) > 0 ? "inked tone-manual strong" : "fine"}>
        {changes === null ? "–" : formatCount(changes.unexplained.length)}
      </td>
    </tr>
  );
}

function LastChange(props: {
  readonly hasMonitor: boolean;
  readonly changes: LastChanges | null;
  readonly nowMs: number;
}) {
  const { hasMonitor, changes, nowMs } = props;
  if (!hasMonitor) return <span class="fine">Not watched</span>;
  if (changes === null) return <span class="fine">…</span>;
  const { newest } = changes;
  if (newest === null) return <span class="fine">No changes yet</span>;
  const { check, to, resource, explained_by: events, seen_at: seenAt } = newest;
  const [event] = events;
  const who = event === undefined ? "unexplained" : (actorOf(event) ?? "someone the log does not name");
  const what = `${ruleName(check)} · ${resource.name}`;
  return (
    <span class="one-line" title={`${what} (${formatTime(Date.parse(seenAt))})`}>
      {`${to === null ? "Gone" : formatVerdict(to)} `}
      <span class="fine">{`${formatAgo(Date.parse(seenAt), nowMs)}, ${who} · `}</span>
      {what}
    </span>
  );
}
