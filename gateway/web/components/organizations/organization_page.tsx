import type { ComponentChild } from "preact";
import type { Api } from "../../model/api.ts";
import { hasTried } from "../../model/connection.ts";
import { toOrigin } from "../../model/decisions/decision_index.ts";
import type { TenantFollower } from "../../model/tenant_follower.ts";
import { isEnded } from "../../scan_wire.ts";
import { BackLink, Message } from "../basics.tsx";
import { OpenExposures } from "./open_exposures.tsx";

/** A page of one monitor or scan, with what an organization adds to it. */
export type ShowResource = (
  resource: { readonly page: "monitor" | "scan"; readonly id: string },
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
  const monitorId = organization.monitor_id;
  const more = <OpenExposures api={api} organization={organization} />;
  if (monitorId !== null) return show({ page: "monitor", id: monitorId }, more, organization.last_scan_id);
  // The newest first, where the last one was deleted.
  const listed = scans.items.find(({ orgUrl, status }) => toOrigin(orgUrl) === organization.org_url && isEnded(status));
  const scanId = organization.last_scan_id ?? listed?.id ?? null;
  if (scanId === null && !hasTried(connection)) return loading;
  if (scanId === null) {
    return (
      <>
        <BackLink />
        <Message level={1} title={organization.name} text="It has no monitor, and none of the newest scans is of it." />
        {more}
      </>
    );
  }
  return show({ page: "scan", id: scanId }, more);
}
