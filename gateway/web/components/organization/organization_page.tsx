import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isDay } from "../../../../shared/decisions/expiry.ts";
import { stateOf } from "../../../../shared/rule_result.ts";
import type { Organization } from "../../../../shared/schemas/organization.ts";
import type { Scan } from "../../../../shared/schemas/scan.ts";
import { originOf } from "../../../../shared/schemas/web_address.ts";
import { findDraft, indexDecisions, type DecisionDraft } from "../../model/decisions/decision_index.ts";
import { toProblem } from "../../model/connection.ts";
import { formatOrg, isolated } from "../../model/format.ts";
import { toView } from "../../model/needs_you.ts";
import { toNews } from "../../model/news.ts";
import { hasPresent, openOrganization, presentOf } from "../../model/organization_store.ts";
import { toPlan } from "../../model/plan.ts";
import { ruleAddress, type Route, type RulesView } from "../../model/route.ts";
import { compareRules, countRules, toRules, toTrend, type RuleRow } from "../../model/rules.ts";
import { mayDo, type Session } from "../../model/session.ts";
import { hasEnded, sinceOf } from "../../model/tenant_state.ts";
import type { Tenant } from "../../model/tenant_store.ts";
import { BackLink, Button, Folded, MissingPage, Problem, Time } from "../basics.tsx";
import { DecideDialog } from "../decisions/decide_dialog.tsx";
import { useLifetime, useRulesView, useStore, useTitle } from "../hooks.ts";
import { Actions } from "./actions.tsx";
import { AsOf, AsOfChoice, Counts, Freshness, Running } from "./head.tsx";
import { Announcement, NewsLine } from "./news.tsx";
import { PlanSection, PolicySection } from "./plan_section.tsx";
import { RulesTable } from "./rules_table.tsx";

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

interface OrganizationViewProps {
  readonly session: Session;
  readonly tenant: Tenant;
  /** Null: the scan's organization was deleted. */
  readonly organization: Organization | null;
  /** The scan as of which it is shown; null: as of now. */
  readonly named: Scan | null;
  readonly view: RulesView;
  readonly change: (changed: Partial<RulesView>) => void;
}

/** One organization: its news first, then the plan, then the rules with findings and history in the row. */
function OrganizationView(props: OrganizationViewProps) {
  const { session, tenant, organization, named, view, change } = props;
  const { api, caller } = session;
  const now = api.nowMs();
  const isNow = named === null;
  const orgUrl = organization?.org_url ?? named?.org_url ?? null;
  const signal = useLifetime();
  const { findScansOf } = tenant;
  useEffect(() => {
    // Without them, the page is complete but for its earlier scans.
    if (orgUrl !== null) findScansOf(orgUrl, signal).catch(() => undefined);
  }, [orgUrl, findScansOf, signal]);
  const scans = tenant.scans.filter(
    ({ org_url: url }) => url !== null && originOf(url) === (orgUrl && originOf(orgUrl)),
  );
  // Only a completed scan says how the organization is.
  const last = scans.find(({ status }) => status === "completed") ?? null;
  // Until one has completed, the newest says how far it came.
  const isPresent = isNow && organization !== null && hasPresent(organization);
  const scan = named ?? (isPresent ? last : (scans[0] ?? null));
  const target = isPresent
    ? presentOf(organization)
    : { organizationId: organization?.id ?? null, monitorId: null, scanId: scan?.id ?? null };
  const until = isNow ? null : (scan?.ended_at ?? null);
  const opened = useStore((onChange) => openOrganization({ api, tenant, onChange, until }, target), target);
  const shownAs = `${orgUrl} ${named?.id}`;
  const kept = useRef({ shownAs, store: opened });
  // The rows stay, and with them the focus, while the present state replaces a scan that has just completed.
  if (opened.isRead || opened.problem !== null || kept.current.shownAs !== shownAs)
    kept.current = { shownAs, store: opened };
  const { store } = kept.current;
  const owner = `${caller.tenant?.id} ${caller.id} ${orgUrl}`;
  const [draft, setDraft] = useState<DecisionDraft | null>(() => findDraft(owner));
  const name = organization?.name ?? formatOrg(orgUrl);
  const running = scans.find(({ status }) => !hasEnded(status)) ?? null;
  const { decisions } = tenant;
  // No event tells the page that a decision has expired.
  const minuteMs = now - (now % 60_000);
  const index = useMemo(() => indexDecisions(decisions, { orgUrl, nowMs: minuteMs }), [decisions, orgUrl, minuteMs]);
  const { findings, changes, history } = store;
  const current = useMemo(() => toRules(store, index), [store, index]);
  const day = view.asOf !== null && isDay(view.asOf) ? view.asOf : null;
  const rules = useMemo(() => (day === null ? current : rulesOfDay(current, day)), [current, day]);
  const counts = countRules(rules);
  const trend = useMemo(() => toTrend(history), [history]);
  const shown = organization === null || !isNow ? null : toView(tenant, organization, now);
  const since = sinceOf(tenant, now);
  const news = useMemo(() => toNews(changes, since, index.waiverOf), [changes, since, index]);
  const plan = useMemo(() => toPlan(current, index), [current, index]);
  const isRunning = scan !== null && !hasEnded(scan.status);
  const isOld = !isNow || day !== null;
  const isUnread = day === null ? !store.isRead && findings.length === 0 : history === null;
  const isUnknown = isUnread || counts.none === rules.length;
  const figure = isRunning ? `${scan.checks_done}/${scan.checks_total} · ` : isUnknown ? "" : `${counts.fail} FAIL · `;
  useTitle(figure + isolated(name));
  const table = (then: ReturnType<typeof compareRules> | null) => (
    <RulesTable
      rules={rules}
      compared={then}
      isUnread={isUnread}
      store={store}
      decisions={index}
      onDecide={mayDo(caller, "decide") && !isOld ? setDraft : undefined}
      view={view}
      change={change}
      now={now}
    >
      <AsOfChoice scans={scans} day={day} scanId={named?.id ?? null} change={change} now={now} />
    </RulesTable>
  );

  return (
    <article class="stack" aria-labelledby="organization-title">
      <header class="head row wrap">
        <BackLink />
        <h1 id="organization-title" class="one-line" title={name}>
          {name}
        </h1>
        <p class="grow">
          {isOld ? (
            <AsOf scan={day === null ? scan : null} day={day} now={now} />
          ) : (
            <Freshness view={shown} scan={scan} now={now} />
          )}
        </p>
        <Actions
          session={session}
          scan={scan}
          running={running}
          scanId={scan?.id ?? organization?.last_scan_id ?? null}
        />
      </header>
      <Problem text={store.problem} />
      <Counts counts={counts} isUnread={isUnread} trend={trend} choose={(state) => change({ state })} />
      <Announcement news={news} />
      {running !== null && (
        <Running key={running.id} api={api} scan={running} isHidden={tenant.readUntilMs < Infinity} />
      )}
      {!isOld && news.length > 0 && (
        <section class="card news-card" aria-labelledby="news-title">
          <header class="row">
            <h2 id="news-title" class="grow">
              {"New since "}
              {tenant.seenAtMs === null ? (
                "yesterday"
              ) : (
                <>
                  you looked (<Time atMs={since} nowMs={now} />)
                </>
              )}
            </h2>
            <Button look="small" label="Seen" onClick={() => tenant.markSeen(changes)} />
          </header>
          <Folded
            items={news}
            row={(item) => (
              <NewsLine key={item.id} item={item} href={ruleAddress(location.hash, item.change.check)} nowMs={now} />
            )}
          />
        </section>
      )}
      {!isOld && !isRunning && store.isRead && <PlanSection plan={plan} />}
      <PolicySection rules={rules} />
      {day !== null ? (
        table(compareRules(rules, current))
      ) : isNow || isRunning || organization === null || !hasPresent(organization) ? (
        table(null)
      ) : (
        <WithNow {...props} organization={organization} decisions={index}>
          {(present) => table(present && compareRules(rules, present))}
        </WithNow>
      )}
      {draft !== null && (
        <DecideDialog
          {...draft}
          {...{ session, owner, orgUrl }}
          onDecided={tenant.put}
          onClose={() => setDraft(null)}
        />
      )}
    </article>
  );
}

/** Results of each rule that were known on a day. Findings are kept for now and for scans only. */
function rulesOfDay(rules: readonly RuleRow[], day: string): readonly RuleRow[] {
  return rules.map((rule) => {
    const known = rule.history?.days.find((one) => one.day === day);
    const state =
      known === undefined || known.status === "UNKNOWN" ? "none" : stateOf({ ...known, status: known.status });
    return { ...rule, ...bare, state };
  });
}

const bare = { isAutomatedPass: false, isWaived: false, attestation: null, findings: [], deciding: 0, since: null };

/** Reads the present rules next to those of a scan. */
function WithNow(
  props: OrganizationViewProps & {
    readonly organization: Organization;
    readonly decisions: ReturnType<typeof indexDecisions>;
    readonly children: (rules: readonly RuleRow[] | null) => preact.ComponentChild;
  },
) {
  const { session, tenant, organization, decisions, children } = props;
  const present = presentOf(organization);
  const store = useStore((onChange) => openOrganization({ api: session.api, tenant, onChange }, present), present);
  const rules = useMemo(() => toRules(store, decisions), [store, decisions]);
  return <>{children(store.isRead ? rules : null)}</>;
}
