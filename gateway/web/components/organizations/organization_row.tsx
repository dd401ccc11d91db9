import { actorOf } from "../../model/change_view.ts";
import { ruleName } from "../../model/check_catalog.ts";
import { formatAgo, formatCount, formatTime, formatVerdict } from "../../model/format.ts";
import type { LastChanges, LastChangesReader } from "../../model/last_changes.ts";
import { hasWatchProblem, notReviewed, type OverviewRow } from "../../model/overview.ts";
import { watchWords } from "../../model/watch_state.ts";
import type { Organization } from "../../organization_wire.ts";

interface OrganizationRowProps {
  readonly row: OverviewRow;
  readonly lastChanges: LastChangesReader;
  readonly nowMs: number;
}

/** One line: whether it is watched, what is open, what moved last, and the month. */
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
      <td class="organization-trend">
        <Trend trend={organization.trend} />
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

const barWidth = 4;
const height = 22;

/** A bar a day, as high as rules failed; a gap where nobody looked. */
function Trend({ trend }: Pick<Organization, "trend">) {
  if (trend === null) return <span class="fine">…</span>;
  const most = Math.max(1, ...trend.map(({ fail }) => fail ?? 0));
  const known = trend.filter(({ fail }) => fail !== null);
  const last = known.at(-1);
  const text =
    last === undefined
      ? "No scan or monitor in the last 30 days"
      : `Failed rules in 30 days: ${known[0]?.fail ?? 0} to ${last.fail ?? 0}; ${known.length} days known`;
  return (
    <svg viewBox={`0 0 ${trend.length * barWidth} ${height}`} role="img" aria-label={text}>
      <title>{text}</title>
      {trend.map(({ day, fail }, index) => {
        const size = fail === null ? 0 : Math.max(2, (fail / most) * (height - 2));
        const tone = fail === null || fail === 0 ? "tone-none" : "tone-fail";
        const y = fail === null ? height - 1 : height - size;
        return (
          <rect
            key={day}
            class={`filled ${fail === 0 ? "tone-pass" : tone}`}
            x={index * barWidth}
            y={y}
            width={barWidth - 1}
            height={fail === null ? 1 : size}
          />
        );
      })}
    </svg>
  );
}
