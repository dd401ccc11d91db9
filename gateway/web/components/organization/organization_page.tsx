import { useEffect, useState } from "preact/hooks";
import { isDay } from "../../../../shared/decisions/expiry.ts";
import type { Scan } from "../../../../shared/schemas/scan.ts";
import { originOf } from "../../../../shared/schemas/web_address.ts";
import { toProblem } from "../../model/connection.ts";
import type { Route } from "../../model/route.ts";
import type { Session } from "../../model/session.ts";
import type { Tenant } from "../../model/tenant_store.ts";
import { MissingPage } from "../basics.tsx";
import { useLifetime, useRulesView } from "../hooks.ts";
import { OrganizationView } from "./organization_view.tsx";

interface OrganizationPageProps {
  readonly session: Session;
  readonly tenant: Tenant;
  readonly route: Extract<Route, { readonly id: string }>;
}

/** Finds the organization that the address names by its own id, by a scan or by a monitor, and shows it. */
export function OrganizationPage({ session, tenant, route }: OrganizationPageProps) {
  const signal = useLifetime();
  const [view, change] = useRulesView();
  const [problem, setProblem] = useState<string | null>(null);
  const scanId = route.page === "scan" ? route.id : isDay(view.asOf ?? "") ? null : view.asOf;
  const named = scanId === null ? null : (tenant.scans.find(({ id }) => id === scanId) ?? null);
  const isMissing = scanId !== null && named === null;
  const { findScan } = tenant;
  useEffect(() => {
    setProblem(null);
    if (isMissing) findScan(scanId, signal).catch((error: unknown) => setProblem(toProblem(error)));
  }, [scanId, isMissing, findScan, signal]);
  const organization = findOrganization(tenant, route, named);
  if (problem !== null && named === null) return <MissingPage title="This scan cannot be shown" text={`${problem}.`} />;
  if (isMissing) return <p role="status">Loading…</p>;
  if (organization === null && named === null) {
    const text = "No such organization in this tenant. It may have been deleted.";
    return <MissingPage title="This organization cannot be shown" text={text} />;
  }
  return (
    <OrganizationView
      session={session}
      tenant={tenant}
      organization={organization}
      named={named}
      view={view}
      change={(next) => {
        // A scan's own address names it already.
        if (route.page === "scan" && organization !== null && "asOf" in next) {
          location.hash = `#/organizations/${organization.id}${next.asOf === null ? "" : `?as-of=${next.asOf ?? ""}`}`;
        } else change(next);
      }}
    />
  );
}

function findOrganization(tenant: Tenant, route: OrganizationPageProps["route"], named: Scan | null) {
  const { organizations, monitors } = tenant;
  // A scan is shown under the organization that it scanned, no matter which one the address names.
  if (route.page === "organization" && named === null) return organizations.find(({ id }) => id === route.id) ?? null;
  const { org_url: orgUrl = null } = named ?? monitors.get(route.id) ?? {};
  return organizations.find(({ org_url: url }) => url === (orgUrl && originOf(orgUrl))) ?? null;
}
