import { useHistory } from "../trend.tsx";
import type { Caller } from "../../caller_wire.ts";
import type { Api } from "../../model/api.ts";
import { toOrigin } from "../../model/decisions/decision_index.ts";
import type { TenantFollower } from "../../model/tenant_follower.ts";
import { isEnded, type Scan } from "../../scan_wire.ts";
import { BackLink, Message } from "../basics.tsx";
import { MonitorPage } from "../monitors/monitor_page.tsx";
import { ScanPage } from "../scan_page.tsx";
import { CompareChoice } from "../compare/compare_choice.tsx";
import { OrganizationHistory } from "./organization_history.tsx";

interface OrganizationPageProps {
  readonly api: Api;
  readonly caller: Caller;
  readonly id: string;
  readonly tenant: TenantFollower;
  readonly onScan: (scan: Scan) => void;
  readonly onReopen: () => void;
}

/** An organization: its monitor's state, else that of its last scan, and its past. */
export function OrganizationPage({ api, caller, id, tenant, onScan, onReopen }: OrganizationPageProps) {
  const history = useHistory(api);
  const { organizations, decisions, deletedScans, scans, monitors, connection } = tenant;
  const organization = organizations.items?.find((one) => one.id === id);
  if (organization === undefined) {
    if (organizations.items === null && connection.problem === null)
      return <p role="status">Loading the organization…</p>;
    const text =
      organizations.items === null
        ? `It could not be read yet: ${connection.problem}.`
        : "No such organization in this tenant. It may have been deleted.";
    return (
      <>
        <BackLink />
        <Message level={1} title="This organization cannot be shown" text={text} />
      </>
    );
  }
  const own = [...new Map([...history, ...scans.items].map((scan) => [scan.id, scan])).values()]
    .filter(({ orgUrl, status }) => toOrigin(orgUrl) === organization.org_url && isEnded(status))
    .toSorted((a, b) => (b.createdAtMs ?? 0) - (a.createdAtMs ?? 0));
  const monitorId = organization.monitor_id;
  const more = (
    <>
      <OrganizationHistory api={api} organization={organization} />
      <CompareChoice scans={own} monitorId={monitorId} />
    </>
  );
  if (monitorId !== null) {
    return (
      <MonitorPage
        key={monitorId}
        api={api}
        caller={caller}
        monitorId={monitorId}
        decisions={decisions}
        more={more}
        onMonitor={(monitor) => monitors.put(monitor)}
        onReopen={onReopen}
      />
    );
  }
  const scanId = organization.last_scan_id ?? own[0]?.id ?? null;
  if (scanId === null) {
    return (
      <>
        <BackLink />
        <Message level={1} title={organization.name} text="No scan of it is stored, and nobody watches it." />
        {more}
      </>
    );
  }
  return (
    <ScanPage
      key={scanId}
      api={api}
      caller={caller}
      scanId={scanId}
      isDeleted={deletedScans.has(scanId)}
      knownScans={scans.items}
      decisions={decisions}
      onScan={onScan}
      onReopen={onReopen}
      more={more}
    />
  );
}
