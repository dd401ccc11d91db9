import { endOfExpiry, isExpired } from "../../../shared/decisions/expiry.ts";
import type { Decision } from "../../../shared/schemas/decision.ts";
import { longestSilenceMs, type Monitor } from "../../../shared/schemas/monitor.ts";
import type { Organization } from "../../../shared/schemas/organization.ts";
import { isLost } from "./connection.ts";
import { indexDecisions, type DecisionIndex } from "./decisions/decision_index.ts";
import { toWaiver } from "./finding.ts";
import { dayMs, formatAgo, formatDuration, wordsFinder } from "./format.ts";
import { isUnexplained, toNews, type NewsItem } from "./news.ts";
import { sinceOf, type FailingRule } from "./tenant_state.ts";
import type { Tenant } from "./tenant_store.ts";

/** One organization as the overview, the title, the icon and the filter see it. */
export interface OrganizationView {
  readonly organization: Organization;
  readonly monitor: Monitor | null;
  /** Null: nobody watches it. */
  readonly watch: WatchState | null;
  /** Newer than what the member has seen, worst first. */
  readonly news: readonly NewsItem[];
  /** The rules of CAT I that fail without a waiver, as far as they are known by name. */
  readonly cat1: readonly FailingRule[];
  /** The number of `cat1`. */
  readonly cat1Open: number;
  readonly needs: readonly Need[];
}

export type Need = "cat1" | "regression" | "unexplained" | "not watched" | "decision ends";

const soonMs = 14 * dayMs;
/** Made once: `localeCompare` with options makes one for each comparison. */
const byName = new Intl.Collator("en-US", { numeric: true });

/** All organizations, those that need somebody first, then the worst. */
export function toViews(tenant: Tenant, nowMs: number): readonly OrganizationView[] {
  return tenant.organizations.map((organization) => toView(tenant, organization, nowMs)).toSorted(byWorst);
}

export function toView(tenant: Tenant, organization: Organization, nowMs: number): OrganizationView {
  const { monitor_id: monitorId, org_url: orgUrl, last_scan_at: scannedAt } = organization;
  const monitor = tenant.monitors.get(monitorId ?? "") ?? null;
  const isLive = !isLost(tenant.connection);
  const watchedMs = Math.min(nowMs, tenant.readUntilMs);
  const state = monitorId === null ? null : monitor === null || !isLive ? "unknown" : watchStateOf(monitor, watchedMs);
  // The results of a monitor that has ended are those of the next scan from then on.
  const isReplaced = state === "ended" && (scannedAt ?? "") > (monitor?.updated_at ?? "");
  const watch = isReplaced ? null : state;
  const decisions = tenant.decisions.filter(({ org_url: of }) => of === orgUrl);
  const index = indexDecisions(tenant.decisions, { orgUrl, nowMs });
  const news = toNews(tenant.changes.get(monitorId ?? "") ?? [], sinceOf(tenant, nowMs), index.waiverOf);
  const open = tenant.cat1.get(organization.id) ?? [];
  const cat1 = open.filter((rule) => !isRuleWaived(rule, index));
  const cat1Open = Math.max(0, organization.cat1_open - (open.length - cat1.length));
  const view = { organization, monitor, watch, news, cat1, cat1Open };
  return { ...view, needs: needsYou({ ...view, decisions }, nowMs) };
}

type NeedSource = Pick<OrganizationView, "watch" | "news" | "cat1Open"> & Pick<Tenant, "decisions">;

/** The one definition of what calls for a person, for title, icon, filter and overview. The decisions are about the organization. */
export function needsYou({ watch, news, cat1Open, decisions }: NeedSource, nowMs: number): readonly Need[] {
  const needs: Need[] = [];
  if (cat1Open > 0) needs.push("cat1");
  if (news.some(({ kind }) => kind === "worse" || kind === "over")) needs.push("regression");
  if (news.some(({ change }) => isUnexplained(change))) needs.push("unexplained");
  if (isWatchProblem(watch)) needs.push("not watched");
  if (decisions.some((decision) => endsSoon(decision, nowMs))) needs.push("decision ends");
  return needs;
}

export function endsSoon({ expires }: Pick<Decision, "expires">, nowMs: number): boolean {
  return expires !== null && !isExpired(expires, nowMs) && endOfExpiry(expires) - nowMs < soonMs;
}

/** Every finding of it that fails is waived; without findings only a waiver of the whole rule says so. */
function isRuleWaived({ check, findings }: FailingRule, index: DecisionIndex): boolean {
  const own = findings.map((finding) => ({ ...finding, ownWaiver: toWaiver(finding) }));
  const all = own.length > 0 ? own : [{ resource_id: "", resource_name: "", ownWaiver: null }];
  return all.every((finding) => index.waiverOf({ ...finding, check, status: "FAIL" }) !== null);
}

/** `scanned 3 min 5 s ago`. */
export function scannedText(at: string | null | undefined, nowMs: number): string {
  return at ? `scanned ${formatAgo(Date.parse(at), nowMs)}` : "no scan has completed yet";
}

function byWorst(a: OrganizationView, b: OrganizationView): number {
  const [one, other] = [a.organization, b.organization];
  return (
    b.cat1Open - a.cat1Open ||
    Number(b.needs.length > 0) - Number(a.needs.length > 0) ||
    other.cat1_open - one.cat1_open ||
    other.cat2_open - one.cat2_open ||
    other.cat3_open - one.cat3_open ||
    byName.compare(one.name, other.name)
  );
}

/** Restricts by name or address, each word of it. */
export function filterViews(views: readonly OrganizationView[], text: string): readonly OrganizationView[] {
  const isFound = wordsFinder(text);
  return views.filter(({ organization: { name, org_url: url } }) => isFound(`${name} ${url}`));
}

/** The worst thing that is known now, for the title and the icon. Not being connected is worse than anything known before. */
export function toAttention(
  views: readonly OrganizationView[],
  { state }: Pick<Tenant["connection"], "state">,
): { readonly level: "off" | "fail" | "warn" | "none"; readonly words: string } {
  if (isLost({ state })) return { level: "off", words: "not live" };
  const needing = views.filter(({ needs }) => needs.length > 0);
  if (needing.length === 0) return { level: "none", words: "" };
  const words = `${needing.length} ${needing.length === 1 ? "needs" : "need"} you`;
  return { level: needing.some(({ needs }) => needs.includes("cat1")) ? "fail" : "warn", words };
}

/**
 * The one word for being live. `stale`: the producer no longer reports. `blind`: the org's log cannot be read. `delayed`: it
 * reports, and is behind. `unknown`: this page itself is not connected.
 */
export type WatchState = "live" | "starting" | "delayed" | "stale" | "blind" | "stopped" | "ended" | "unknown";

/** The worst of what holds, so that nothing looks better than it is. */
function watchStateOf(monitor: Monitor, nowMs: number): WatchState {
  const { status, log_status: logStatus, lag_seconds: lagSeconds } = monitor;
  if (status === "ended" || status === "stopped") return status;
  const boundMs = longestSilenceMs(monitor.interval_seconds);
  if (status === "stale" || nowMs - Date.parse(monitor.updated_at) > boundMs) return "stale";
  if (logStatus === "unreadable") return "blind";
  if (monitor.last_look_at === null) return "starting";
  const isBehind = nowMs - Date.parse(monitor.last_look_at) > boundMs || (lagSeconds ?? 0) * 1000 > boundMs;
  return isBehind ? "delayed" : "live";
}

/** True: what is shown may be old, and somebody has to look at the monitor. */
export function isWatchProblem(watch: WatchState | null): boolean {
  return watch !== null && ["stale", "blind", "delayed", "stopped"].includes(watch);
}

/** `live, read 3 s ago`, or why it is not live. */
export function watchText(state: WatchState, monitor: Monitor | null, nowMs: number): string {
  const ago = (time: string | null | undefined) => formatDuration(nowMs - (time ? Date.parse(time) : nowMs));
  const lookMs = monitor?.last_look_at ? nowMs - Date.parse(monitor.last_look_at) : 0;
  const behindMs = Math.max(lookMs, (monitor?.lag_seconds ?? 0) * 1000);
  return {
    live: `live, read ${ago(monitor?.last_look_at)} ago`,
    starting: "starting: the first poll of the org is running",
    delayed: `not live: the monitor is ${formatDuration(behindMs)} behind the org`,
    stale: `not watched for ${ago(monitor?.updated_at)}: the org may have changed since`,
    blind: `not live: the org's log cannot be read, the results are of ${ago(monitor?.last_look_at)} ago`,
    stopped: `not watched: the monitor stopped ${ago(monitor?.updated_at)} ago`,
    ended: "monitoring has ended; these are its last results",
    unknown: "not live: this page is not connected",
  }[state];
}
