import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { countOf } from "../../../../shared/outcome_text.ts";
import type { Api } from "../../model/api.ts";
import { formatCount } from "../../model/format.ts";
import type { LastChangesReader } from "../../model/last_changes.ts";
import {
  filterOverview,
  needsAttention,
  toOverview,
  type OverviewFilter,
  type OverviewRow,
} from "../../model/overview.ts";
import type { TenantFollower } from "../../model/tenant_follower.ts";
import { Icon, Message } from "../basics.tsx";
import { useNow, useTitle } from "../hooks.ts";
import { ScanList } from "../scan_list.tsx";
import { OrganizationRow } from "./organization_row.tsx";

interface OverviewPageProps {
  readonly api: Api;
  readonly tenant: TenantFollower;
}

const choices: readonly { readonly only: OverviewFilter; readonly label: string }[] = [
  { only: "all", label: "All" },
  { only: "attention", label: "Need attention" },
  { only: "cat1", label: "CAT I open" },
];

/** All organizations of the tenant, worst first, and the newest scans. */
export function OverviewPage({ api, tenant }: OverviewPageProps) {
  const [text, setText] = useState("");
  const [only, setOnly] = useState<OverviewFilter>("all");
  const { organizations, connection } = tenant;
  useNow();
  useTitle("Organizations");
  useLayoutEffect(() => scrollTo(0, 0), []);

  const { problem } = organizations;
  const read = toOverview(tenant, api.nowMs());
  const rows = read ?? [];
  const isLive = connection.state === "live";
  useEffect(() => {
    if (!isLive) return;
    for (const { monitor } of rows) {
      if (monitor === null) continue;
      // Their counts move with their changes.
      const { id, status, pass, fail, manual } = monitor;
      tenant.lastChanges.want(id, [status, pass, fail, manual].join());
    }
  });
  const shown = filterOverview(rows, { text, only });
  const current = shown.filter(({ isEnded }) => !isEnded);
  const ended = shown.filter(({ isEnded }) => isEnded);
  const hasAny = tenant.scans.items.length > 0 || tenant.monitors.items.length > 0;
  const table = (of: readonly OverviewRow[]) => (
    <OrganizationTable rows={of} lastChanges={tenant.lastChanges} api={api} />
  );

  return (
    <article class="overview-page stack" aria-labelledby="overview-title">
      <header class="scan-head">
        <div class="scan-title row wrap">
          <h1 id="overview-title">Organizations</h1>
        </div>
        <p class="scan-meta text">{read === null ? <span role="status">{toWait(tenant)}</span> : toSummary(rows)}</p>
      </header>
      {rows.length > 0 && (
        <div class="filters row wrap" role="group" aria-label="Filter the organizations">
          <div class="search row">
            <Icon name="search" />
            <input
              type="search"
              aria-label="Search organizations"
              placeholder="Search organizations"
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          </div>
          <div class="chips" role="group" aria-label="Which">
            {choices.map(({ only: choice, label }) => (
              <button
                key={choice}
                type="button"
                class="chip row"
                aria-pressed={choice === only}
                onClick={() => setOnly(choice)}
              >
                {label}
                <span class="chip-count">{formatCount(filterOverview(rows, { text, only: choice }).length)}</span>
              </button>
            ))}
          </div>
        </div>
      )}
      {problem !== null && (
        <div class="problem tinted tone-manual row wrap" role="alert">
          {`${problem}.`}
        </div>
      )}
      {current.length > 0 && table(current)}
      {rows.length > 0 && (
        <p class="fine">
          CAT I and CAT II count failed rules; CAT I is the most severe category. Not reviewed: rules that a person has
          to decide. Unexplained: changes for which Okta's log names nobody.
        </p>
      )}
      {rows.length > 0 && shown.length === 0 && <p class="note">No organization matches.</p>}
      {ended.length > 0 && (
        <details class="ended">
          <summary>{`${countOf(ended.length, "organization")} without a monitor or a scan in the last 30 days`}</summary>
          {table(ended)}
        </details>
      )}
      {organizations.items?.length === 0 && hasAny && (
        <Message level={2} title="No organization has a name yet" text="Scans that name their org appear here." />
      )}
      {(read !== null || connection.problem !== null) && <ScanList store={tenant.scans} nowMs={api.nowMs()} />}
    </article>
  );
}

function toWait({ connection }: TenantFollower): string {
  return connection.problem === null ? "Loading organizations…" : "The organizations could not be read yet.";
}

function toSummary(rows: readonly OverviewRow[]): string {
  const cat1 = rows.reduce((total, { organization }) => total + organization.cat1_open, 0);
  const attention = rows.filter(needsAttention).length;
  const all = countOf(rows.length, "organization");
  if (rows.length === 0) return "";
  return `${all}, of which ${formatCount(attention)} need attention · ${countOf(cat1, "CAT I rule")} open`;
}

function OrganizationTable(props: {
  readonly rows: readonly OverviewRow[];
  readonly lastChanges: LastChangesReader;
  readonly api: Api;
}) {
  const { rows, lastChanges, api } = props;
  return (
    <div class="card organizations">
      <table class="organization-table" aria-label="Organizations, worst first">
        <thead>
          <tr class="fine">
            <th scope="col">Watched</th>
            <th scope="col">Organization</th>
            <th scope="col">CAT I</th>
            <th scope="col">CAT II</th>
            <th scope="col">Not reviewed</th>
            <th scope="col">Last change</th>
            <th scope="col">Unexplained</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <OrganizationRow key={row.organization.id} row={row} lastChanges={lastChanges} nowMs={api.nowMs()} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
