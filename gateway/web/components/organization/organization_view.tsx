import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { endOfExpiry } from "../../../../shared/decisions/expiry.ts";
import { countOf } from "../../../../shared/outcome_text.ts";
import type { DecisionKind } from "../../../../shared/schemas/decision.ts";
import type { Organization } from "../../../../shared/schemas/organization.ts";
import type { Scan } from "../../../../shared/schemas/scan.ts";
import { checkTitle } from "../../model/check_catalog.ts";
import { indexDecisions } from "../../model/decisions/decision_index.ts";
import type { Finding } from "../../model/finding.ts";
import { sinceOf, toView } from "../../model/needs_you.ts";
import { byWhom, toNews } from "../../model/news.ts";
import { openOrganization, type OrganizationTarget } from "../../model/organization_store.ts";
import { mayDo } from "../../model/permissions.ts";
import { toPlan } from "../../model/plan.ts";
import { isDay, type RulesView } from "../../model/route.ts";
import { compareRules, countRules, toRules, toTrend, type RuleRow } from "../../model/rules.ts";
import type { Session } from "../../model/session.ts";
import { hasEnded, type TenantStore } from "../../model/tenant_store.ts";
import { Announcement, BackLink, Time } from "../basics.tsx";
import { DecideDialog } from "../decisions/decide_dialog.tsx";
import { useStore, useTitle } from "../hooks.ts";
import { Actions } from "./actions.tsx";
import { AsOfChoice } from "./as_of_choice.tsx";
import { AsOf, Counts, Freshness, Running } from "./head.tsx";
import { NewsLine } from "./news.tsx";
import { PlanSection } from "./plan_section.tsx";
import { PolicySection } from "./policy_section.tsx";
import { RulesTable } from "./rules_table.tsx";

interface OrganizationViewProps {
  readonly session: Session;
  readonly tenant: TenantStore;
  /** Null: the scan's organization was deleted. */
  readonly organization: Organization | null;
  readonly name: string;
  readonly target: OrganizationTarget;
  /** The one that the findings are of, or that explains them; null: it is not listed. */
  readonly scan: Scan | null;
  readonly running: Scan | null;
  /** Else as of a scan. */
  readonly isNow: boolean;
  readonly view: RulesView;
  readonly change: (changed: Partial<RulesView>) => void;
  readonly now: number;
}

const manyFindings = 1000;
const manyFindingsPauseMs = 120;
const newsAtOnce = 4;

/** One organization: its news first, then the plan, then the rules with findings and history in the row. */
export function OrganizationView(props: OrganizationViewProps) {
  const { session, tenant, organization, name, target, scan, running, isNow, view, change, now } = props;
  const { api, caller } = session;
  const [store, frame] = useStore(
    (onChange) => openOrganization({ api, tenant, onChange }, target),
    ({ findings }) => (findings.size > manyFindings ? manyFindingsPauseMs : 0),
  );
  const [draft, setDraft] = useState<{ readonly kind: DecisionKind; readonly finding: Finding } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const orgUrl = organization?.org_url ?? scan?.org_url ?? null;
  const { decisions } = tenant;
  // A decision that lapses is none from then on, and no event says so.
  const lapsed = decisions.filter(({ expires }) => expires !== null && endOfExpiry(expires) < now).length;
  const index = useMemo(
    () => indexDecisions(decisions, { orgUrl, nowMs: api.nowMs() }),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- see above
    [decisions, orgUrl, lapsed, api],
  );
  const current = useMemo(
    () =>
      toRules({ findings: store.findings.values(), changes: store.changes, history: store.history, decisions: index }),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the store changes in place: a frame says that it did
    [store, frame, index],
  );
  const day = isDay(view.asOf) ? view.asOf : null;
  const rules = useMemo(() => (day === null ? current : rulesOfDay(current, day)), [current, day]);
  const counts = countRules(rules);
  const trend = useMemo(() => toTrend(store.history), [store.history]);
  const shown = organization === null || !isNow ? null : toView(tenant, organization, now);
  const since = sinceOf(tenant, now);
  const news = useMemo(() => toNews(store.changes, since), [store.changes, since]);
  const plan = useMemo(() => toPlan(current, index), [current, index]);
  const onDecide = useCallback((kind: DecisionKind, finding: Finding) => setDraft({ kind, finding }), []);
  const isRunning = scan !== null && !hasEnded(scan.status);
  const isOld = !isNow || day !== null;
  useTitle(isRunning ? `${scan.checks_done}/${scan.checks_total} · ${name}` : `${counts.fail} FAIL · ${name}`);
  useEffect(() => setProblem(null), [view.asOf]);
  const wasRunning = useRef(isRunning);
  useEffect(() => {
    // The last findings of the scan may have come after its stream was left.
    if (wasRunning.current && !isRunning) store.retryNow();
    wasRunning.current = isRunning;
  }, [isRunning, store]);
  const [newest] = news;
  const announcement =
    newest === undefined
      ? ""
      : `${checkTitle(newest.change.check)}, ${newest.change.resource.name}: ${newest.change.to?.status ?? "gone"}, ${byWhom(newest)}.`;
  const table = (then: ReturnType<typeof compareRules> | null) => (
    <RulesTable
      rules={rules}
      counts={counts}
      compared={then}
      store={store}
      tenant={tenant}
      orgUrl={orgUrl}
      decisions={index}
      onDecide={mayDo(caller, "decide") && !isOld ? onDecide : undefined}
      view={view}
      change={change}
      now={now}
    >
      <AsOfChoice
        scans={tenant.scans}
        orgUrl={orgUrl}
        value={view.asOf ?? (isNow ? null : target.scanId)}
        change={change}
        now={now}
      />
    </RulesTable>
  );

  return (
    <article class="organization-page stack" aria-labelledby="organization-title">
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
          orgUrl={orgUrl}
          scan={scan}
          running={running}
          scanId={target.scanId}
          onProblem={setProblem}
        />
      </header>
      <p class="problem" role="alert">
        {problem ?? store.problem}
      </p>
      <Counts counts={counts} trend={trend} choose={(state) => change({ state })} />
      <Announcement text={announcement} />
      {store.scanProblems.map((text) => (
        <p key={text} class="problem">
          {text}
        </p>
      ))}
      {running !== null && <Running api={api} scan={running} store={store} now={now} />}
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
            <button type="button" class="button small" onClick={() => tenant.markSeen()}>
              Seen
            </button>
          </header>
          <ol class="news">
            {news.slice(0, newsAtOnce).map((item) => (
              <NewsLine key={item.id} item={item} href={ruleAddress(item.change.check)} nowMs={now} />
            ))}
          </ol>
          {news.length > newsAtOnce && (
            <details>
              <summary>{countOf(news.length - newsAtOnce, "more change")}</summary>
              <ol class="news">
                {news.slice(newsAtOnce, 200).map((item) => (
                  <NewsLine key={item.id} item={item} href={ruleAddress(item.change.check)} nowMs={now} />
                ))}
              </ol>
            </details>
          )}
        </section>
      )}
      {!isOld && !isRunning && <PlanSection plan={plan} toAddress={ruleAddress} />}
      <PolicySection api={api} rules={rules} scanId={target.scanId} toAddress={ruleAddress} now={now} />
      {day !== null ? (
        table(compareRules(rules, current))
      ) : isNow || organization === null ? (
        table(null)
      ) : (
        <WithNow {...props} organization={organization} decisions={index}>
          {(present) => table(compareRules(rules, present))}
        </WithNow>
      )}
      {draft !== null && (
        <DecideDialog
          api={api}
          {...draft}
          orgUrl={orgUrl}
          failing={current.find(({ check }) => check === draft.finding.check)?.deciding ?? 0}
          onDecided={(decision) => tenant.put(decision)}
          onClose={() => setDraft(null)}
        />
      )}
    </article>
  );
}

function ruleAddress(check: string): string {
  const [place = ""] = location.hash.split("?");
  return `${place}?rule=${encodeURIComponent(check)}`;
}

/** Results of each rule that were known on a day. Findings are kept for now and for scans only. */
function rulesOfDay(rules: readonly RuleRow[], day: string): readonly RuleRow[] {
  return rules.map((rule) => {
    const known = rule.history?.days.find((one) => one.day === day);
    const isNotApplicable = known?.reason === "not_applicable";
    const states = {
      PASS: "pass",
      FAIL: "fail",
      MANUAL: isNotApplicable ? "not_applicable" : "manual",
      UNKNOWN: "none",
    } as const;
    const state = states[known?.status ?? "UNKNOWN"];
    return {
      ...rule,
      state,
      isAutomatedPass: false,
      isWaived: false,
      attestation: null,
      findings: [],
      deciding: 0,
      since: null,
    };
  });
}

/** Reads the present rules next to those of a scan. */
function WithNow(
  props: OrganizationViewProps & {
    readonly organization: Organization;
    readonly decisions: ReturnType<typeof indexDecisions>;
    readonly children: (rules: readonly RuleRow[]) => preact.ComponentChild;
  },
) {
  const { session, tenant, organization, decisions, children } = props;
  const { id, monitor_id: monitorId, last_scan_id: scanId } = organization;
  const target = { organizationId: id, monitorId, scanId };
  const [store, frame] = useStore((onChange) => openOrganization({ api: session.api, tenant, onChange }, target));
  const rules = useMemo(
    () => toRules({ findings: store.findings.values(), changes: [], history: null, decisions }),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the store changes in place: a frame says that it did
    [store, frame, decisions],
  );
  return <>{children(store.isRead ? rules : [])}</>;
}
