import type { ComponentChild } from "preact";
import { useHistory } from "../trend.tsx";
import type { Api } from "../../model/api.ts";
import { toOrigin } from "../../model/decisions/decision_index.ts";
import type { TenantFollower } from "../../model/tenant_follower.ts";
import { isEnded } from "../../scan_wire.ts";
import { BackLink, Message } from "../basics.tsx";
import { OrganizationHistory } from "./organization_history.tsx";

/** A page of one monitor or scan, with what an organization adds to it. */
export type ShowResource = (
  resource: { readonly page: "monitor" | "scan"; readonly id: string },
  /** Null: not read yet. */
  more?: ComponentChild,
  /** For a monitor's causes: the organization's last scan. */
  scanId?: string | null,
) => ComponentChild;

interface OrganizationPageProps {
  readonly api: Api;
  readonly id: string;
  readonly tenant: TenantFollower;
  readonly show: ShowResource;
}

/** An organization: its monitor's state, else that of its last scan, and its past. */
export function OrganizationPage({ api, id, tenant, show }: OrganizationPageProps) {
  const history = useHistory(api);
  const { organizations, scans, connection } = tenant;
  const organization = organizations.items?.find((one) => one.id === id);
  const loading = <p role="status">Loading the organization…</p>;
  if (organization === undefined) {
    if (organizations.items === null && connection.problem === null) return loading;
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
  const own = [...new Map([...(history ?? []), ...scans.items].map((scan) => [scan.id, scan])).values()]
    .filter(({ orgUrl, status }) => toOrigin(orgUrl) === organization.org_url && isEnded(status))
    .toSorted((a, b) => (b.createdAtMs ?? 0) - (a.createdAtMs ?? 0));
  const monitorId = organization.monitor_id;
  const more = history === null ? null : <OrganizationHistory api={api} organization={organization} />;
  if (monitorId !== null) return show({ page: "monitor", id: monitorId }, more, organization.last_scan_id);
  const scanId = organization.last_scan_id ?? own[0]?.id ?? null;
  if (scanId === null && history === null) return loading;
  if (scanId === null) {
    return (
      <>
        <BackLink />
        <Message level={1} title={organization.name} text="It has no scan and no monitor." />
        {more}
      </>
    );
  }
  return show({ page: "scan", id: scanId }, more);
}
