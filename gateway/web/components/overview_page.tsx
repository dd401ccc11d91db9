import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { actorName } from "../../../shared/actor.ts";
import { countOf } from "../../../shared/outcome_text.ts";
import { createdApiKeySchema } from "../../../shared/schemas/team.ts";
import { originOf } from "../../../shared/schemas/web_address.ts";
import { categoryNames } from "../../../shared/severity.ts";
import { checkTitle, ruleIds, shortFix } from "../model/check_catalog.ts";
import { dayMs, formatTime, isolated } from "../model/format.ts";
import { filterViews, isWatchProblem, scannedText, watchText, type OrganizationView } from "../model/needs_you.ts";
import { byWhom, isWorst, movedText, remedyOf } from "../model/news.ts";
import { ruleAddress } from "../model/route.ts";
import { mayDo, type Session } from "../model/session.ts";
import { hasEnded, sinceOf } from "../model/tenant_state.ts";
import type { Tenant } from "../model/tenant_store.ts";
import { Button, CopyButton, FilterOutcome, Folded, Message, Problem, SearchField, Segments, Time } from "./basics.tsx";
import { useAction, useRulesView, useTitle } from "./hooks.ts";
import { Announcement, NewsLine } from "./organization/news.tsx";

interface OverviewProps {
  readonly session: Session;
  readonly tenant: Tenant;
  readonly views: readonly OrganizationView[];
}

/** All organizations of the tenant, those that need somebody first, each with the reason. */
export function OverviewPage({ session, tenant, views }: OverviewProps) {
  const [{ text, state }, change] = useRulesView();
  const nowMs = session.api.nowMs();
  useTitle("Organizations");
  const [only] = views;
  useEffect(() => {
    // Whoever comes without an address, and has one organization, comes for it.
    if (location.hash === "" && views.length === 1 && only !== undefined) {
      location.replace(`#/organizations/${only.organization.id}`);
    }
  }, [views.length, only]);
  const needing = views.filter(({ needs }) => needs.length > 0);
  const shown = filterViews(state === "needs_you" ? needing : views, text);
  const news = views.flatMap((view) => view.news.map((item) => ({ item, view })));
  const atLeast = tenant.hasAllChanges ? "" : "at least ";
  if (views.length === 0) return <FirstScan session={session} />;
  return (
    <article class="stack" aria-labelledby="overview-title">
      <header class="head row wrap">
        <h1 id="overview-title">Organizations</h1>
        <p class={`grow ${needing.length > 0 ? "strong" : "fine"}`} role="status">
          {needing.length > 0
            ? `${needing.length} of ${views.length} ${needing.length === 1 ? "needs" : "need"} you`
            : `None of ${views.length} needs you`}
          {tenant.isPart && ", reading the others…"}
        </p>
        <SearchField
          label="Search organizations"
          placeholder="Search"
          value={text}
          onText={(typed) => change({ text: typed })}
        />
        <Segments
          label="Show"
          value={state === "needs_you"}
          options={[
            [true, `needs you ${needing.length}`],
            [false, `all ${views.length}`],
          ]}
          choose={(isNeedingOnly) => change({ state: isNeedingOnly ? "needs_you" : null })}
        />
      </header>
      <Announcement news={news.map(({ item, view }) => ({ ...item, name: view.organization.name }))} />
      {shown.length > 0 && <OrganizationTable views={shown} tenant={tenant} nowMs={nowMs} />}
      <FilterOutcome shown={shown.length} all={views.length} noun="organization" />
      {news.length > 0 && (
        <section class="card news-all">
          <Folded
            items={news}
            unfolded={0}
            label={(count) => `${atLeast}${countOf(count, "change")} since ${formatTime(sinceOf(tenant, nowMs))}`}
            row={({ item, view: { organization } }) => (
              <NewsLine
                key={item.id}
                item={item}
                name={organization.name}
                href={ruleAddress(`#/organizations/${organization.id}`, item.change.check)}
                nowMs={nowMs}
              />
            )}
          />
        </section>
      )}
    </article>
  );
}

function OrganizationTable({ views, tenant, nowMs }: Omit<OverviewProps, "session"> & { readonly nowMs: number }) {
  const running = new Map(
    tenant.scans.flatMap((scan) =>
      hasEnded(scan.status) ? [] : [[scan.org_url && originOf(scan.org_url), scan] as const],
    ),
  );
  return (
    <table class="organizations">
      <caption class="visually-hidden">Organizations, those that need you first</caption>
      <thead class="fine">
        <tr>
          <th scope="col">Organization</th>
          <th scope="col">CAT I</th>
          <th scope="col">CAT II</th>
          <th scope="col">Why</th>
          <th scope="col">{tenant.hasAllChanges ? "New" : "New, at least"}</th>
        </tr>
      </thead>
      <tbody>
        {views.map((view) => {
          const { organization, watch, news, needs, cat1Open } = view;
          const { id, name, cat1_open: cat1, cat2_open: cat2 } = organization;
          const scan = running.get(organization.org_url);
          const worse = news.filter(({ kind }) => kind === "worse" || kind === "over").length;
          const better = news.filter(({ kind }) => kind === "better").length;
          return (
            <tr key={id} class={`organization${needs.length > 0 ? " needs" : ""}${cat1Open > 0 ? " worst" : ""}`}>
              <th scope="row">
                <span class={`dot dot-${watch ?? "none"}`} aria-hidden="true" />
                <a class="organization-link" href={`#/organizations/${id}`} title={name}>
                  {name.slice(0, 200)}
                </a>
              </th>
              <td data-label="CAT I" class={cat1Open > 0 ? "strong-fail" : ""}>
                {cat1 === 0 ? "–" : cat1}
                {cat1 > cat1Open && <span class="fine">{` (${cat1 - cat1Open} waived)`}</span>}
              </td>
              <td data-label="CAT II">{cat2 === 0 ? "–" : cat2}</td>
              <td class="organization-why">
                <Reason view={view} nowMs={nowMs} />
                {scan !== undefined && ` · scanning, ${scan.checks_done} of ${scan.checks_total} rules`}
              </td>
              <td data-label="New" class="fine">
                {worse > 0 ? `+${worse}` : ""}
                {better > 0 ? ` −${better}` : ""}
                {worse + better === 0 ? "–" : ""}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** The one thing that a person should know of it now: what got worse and who did it, else what is not watched, else what was last. */
function Reason({ view, nowMs }: { readonly view: OrganizationView; readonly nowMs: number }): ComponentChildren {
  const { organization, monitor, watch, news, cat1, cat1Open, needs } = view;
  const worst = news.find(({ kind }) => kind === "worse");
  const [exposure] = cat1;
  // The failure may be out of date while the monitor has a problem.
  const late = watch !== null && isWatchProblem(watch) ? ` · ${watchText(watch, monitor, nowMs)}` : "";
  if (worst !== undefined && (isWorst(worst) || exposure === undefined)) {
    const { check, rule } = worst.change;
    const remedy = remedyOf(worst);
    return (
      <>
        <span class={isWorst(worst) ? "strong-fail" : "strong"}>
          {`${categoryNames[rule.severity]} ${checkTitle(check)}`}
        </span>
        {` · ${byWhom(worst)} · `}
        <Time atMs={worst.atMs} isClockOnly={nowMs - worst.atMs < dayMs} />
        {remedy !== null && <span class="fine">{` · Fix: ${remedy}`}</span>}
        {late}
      </>
    );
  }
  if (exposure !== undefined) {
    const who = actorName(exposure.actor);
    const fix = exposure.findings.find(({ to_pass }) => to_pass !== null)?.to_pass ?? shortFix(exposure.check);
    return (
      <>
        <span class="strong-fail">{`${ruleIds(exposure.check)} ${checkTitle(exposure.check)}`}</span>
        {who === null ? " fails" : ` fails since a change by ${isolated(who)}`}
        <span class="fine">{` · Fix: ${fix}`}</span>
        {late}
      </>
    );
  }
  if (cat1Open > 0) return <span class="strong-fail">{`${countOf(cat1Open, "rule")} of CAT I failed${late}`}</span>;
  if (watch !== null && (isWatchProblem(watch) || watch === "unknown")) return watchText(watch, monitor, nowMs);
  const [newest] = news;
  if (needs.includes("decision ends")) return "a decision ends within 14 days";
  if (newest !== undefined) return `${checkTitle(newest.change.check)} · ${movedText(newest)} · ${byWhom(newest)}`;
  if (watch !== null) return <span class="fine">{watchText(watch, monitor, nowMs)}</span>;
  return <span class="fine">{scannedText(organization.last_scan_at, nowMs)}</span>;
}

const keyDays = 90;

/** Leads to the first scan: a key, the command, and the wait for what it finds. */
function FirstScan({ session: { api, caller } }: { readonly session: Session }) {
  const [key, setKey] = useState<string | null>(null);
  const { isBusy, problem, run } = useAction();
  const isAllowed = mayDo(caller, "appoint");

  const makeKey = () =>
    run("make the key", async (signal) => {
      const expires_at = new Date(api.nowMs() + keyDays * dayMs).toISOString();
      const body = { name: "scanner", scopes: ["read", "publish"], expires_at };
      setKey((await api.ask("POST", "api/v1/api-keys", createdApiKeySchema, { signal, body })).api_key);
    });

  const command = `SCANSTREAM_URL=${new URL(".", document.baseURI).href} SCANSTREAM_API_KEY=${key ?? "…"} scanstream scan`;
  return (
    <Message
      level={1}
      title="No scans yet"
      text={
        isAllowed
          ? "Make a key, copy the command, and start it where Okta can be reached."
          : "Ask an admin of this tenant for an API key, then start a scan of your Okta org:"
      }
    >
      {isAllowed && key === null && (
        <Button look="primary" label="Make a key" disabled={isBusy} onClick={() => void makeKey()} />
      )}
      <pre>
        <code>{command}</code>
      </pre>
      {key !== null && (
        <>
          <CopyButton label="Copy the command" getText={() => command} />
          <p class="fine">{`The key is valid for ${keyDays} days and is not shown again.`}</p>
        </>
      )}
      <Problem text={problem} />
      <p role="status">Waiting for the first scan…</p>
    </Message>
  );
}
