import { useEffect, useState } from "preact/hooks";
import { subscribe } from "../../../../shared/client/subscribe.ts";
import type { RuleState } from "../../../../shared/rule_result.ts";
import type { Scan, ScanEvents } from "../../../../shared/schemas/scan.ts";
import { categoryNames, severities } from "../../../../shared/severity.ts";
import { type Api, toScanPath } from "../../model/api.ts";
import { checkTitle, revisionText, ruleIds } from "../../model/check_catalog.ts";
import { dayMs, formatDuration, formatTime, stateNames, toDay } from "../../model/format.ts";
import { isWatchProblem, scannedText, watchText, type OrganizationView } from "../../model/needs_you.ts";
import { shownDays } from "../../model/organization_store.ts";
import type { RulesView } from "../../model/route.ts";
import type { RuleCounts, TrendDay } from "../../model/rules.ts";
import { hasEnded } from "../../model/tenant_state.ts";
import { Trend } from "./days.tsx";

/** The one line that says how far what is shown can be trusted. */
export function Freshness(props: {
  readonly view: OrganizationView | null;
  readonly scan: Scan | null;
  readonly now: number;
}) {
  const { view, scan, now } = props;
  const revision = revisionText(view?.monitor?.benchmark ?? scan?.benchmark ?? null);
  const watch = view?.watch ?? null;
  const isBad = isWatchProblem(watch) || watch === "unknown";
  const problem = view?.monitor?.error_detail ?? null;
  const isPart = scan !== null && scan.status !== "completed";
  const scanned = isPart ? progressText(scan) : scannedText(view?.organization.last_scan_at ?? scan?.ended_at, now);
  const text = watch === null ? scanned : watchText(watch, view?.monitor ?? null, now);
  return (
    <>
      <span class={`dot dot-${watch ?? "none"}`} aria-hidden="true" />
      <span class={isBad ? "strong" : "fine"} data-watch={watch ?? "none"}>
        {text}
      </span>
      {revision !== null && <span class="fine">{` · ${revision}`}</span>}
      <span class="print-only">{` · printed ${formatTime(now)}`}</span>
      {problem !== null && <span class="problem">{problem}</span>}
    </>
  );
}

/** `cancelled after 11 of 29 rules`. */
function progressText({ status, checks_done: done, checks_total: total }: Scan): string {
  return hasEnded(status) ? `${status} after ${done} of ${total} rules` : status;
}

/** The moment that is shown, and the progress of a scan that did not complete. */
export function AsOf(props: { readonly scan: Scan | null; readonly day: string | null; readonly now: number }) {
  const { scan, day, now } = props;
  if (scan === null) return <strong>{day === null ? "an earlier scan" : `worst results of ${day} (UTC)`}</strong>;
  const { status, created_at: createdAt, ended_at: endedAt, client_id: client } = scan;
  const took = endedAt === null ? null : `took ${formatDuration(Date.parse(endedAt) - Date.parse(createdAt))}`;
  const facts = [took, revisionText(scan.benchmark), client === null ? null : `client ${client}`]
    .filter(Boolean)
    .join(" · ");
  const isPart = hasEnded(status) && status !== "completed";
  return (
    <>
      <strong>{`scan of ${formatTime(Date.parse(createdAt))}`}</strong>
      {isPart && <strong>{` · ${progressText(scan)}; it changes nothing else`}</strong>}
      {!hasEnded(status) && ` · running for ${formatDuration(now - Date.parse(createdAt))}`}
      {facts !== "" && <span class="fine">{` · ${facts}`}</span>}
    </>
  );
}

interface AsOfChoiceProps {
  readonly scans: readonly Scan[];
  readonly day: string | null;
  readonly scanId: string | null;
  readonly change: (changed: Partial<RulesView>) => void;
  readonly now: number;
}

const listedScans = 30;

/** Now, a run, or a day of the last 90. */
export function AsOfChoice({ scans, day, scanId, change, now }: AsOfChoiceProps) {
  const listed = scans.filter(({ status }) => hasEnded(status)).slice(0, listedScans);
  const isListed = scanId === null || listed.some(({ id }) => id === scanId);
  return (
    <div class="as-of row wrap">
      <label class="row">
        As of
        <select
          value={day === null ? (scanId ?? "now") : ""}
          onChange={({ currentTarget }) => change({ asOf: currentTarget.value === "now" ? null : currentTarget.value })}
        >
          <option value="now">now</option>
          {day !== null && <option value="">{day}</option>}
          {day === null && !isListed && <option value={scanId}>this scan</option>}
          {listed.map(({ id, created_at: createdAt, status }) => (
            <option key={id} value={id}>
              {`scan ${formatTime(Date.parse(createdAt))}${status === "completed" ? "" : `, ${status}`}`}
            </option>
          ))}
        </select>
      </label>
      <label class="row">
        <span class="fine">or the day</span>
        <input
          type="date"
          min={toDay(now - (shownDays - 1) * dayMs)}
          max={toDay(now)}
          value={day ?? ""}
          onChange={({ currentTarget }) => change({ asOf: currentTarget.value === "" ? null : currentTarget.value })}
        />
      </label>
    </div>
  );
}

/** The progress of a running scan, read from its own stream while the page is looked at. */
export function Running(props: { readonly api: Api; readonly scan: Scan; readonly isHidden: boolean }) {
  const { api, scan, isHidden } = props;
  const { id, checks_done: done, checks_total: total } = scan;
  const [lastCheck, setLastCheck] = useState<string | null>(null);
  const [problems, setProblems] = useState<readonly string[]>([]);
  useEffect(() => {
    if (isHidden) return undefined;
    const subscription = subscribe<ScanEvents>(new URL(`${toScanPath(id)}/event-stream`, document.baseURI), {
      fetch: api.fetchStream,
      onEvent({ type, data }) {
        if (type === "scan.progress") setLastCheck(data.check);
        if (type === "scan.error") setProblems((before) => [...before, data.detail || data.code]);
      },
    });
    return () => subscription.close();
  }, [api, id, isHidden]);
  const elapsedMs = api.nowMs() - Date.parse(scan.started_at ?? scan.created_at);
  const leftMs = done === 0 ? null : (elapsedMs / done) * (total - done);
  return (
    <section class="card running stack" aria-labelledby="running-title">
      <p class="row wrap">
        <strong id="running-title">{scan.cancel_requested ? "Scan is being cancelled" : "Scan running"}</strong>
        <span>{`${done} of ${total} rules`}</span>
        {lastCheck !== null && <span class="one-line grow">{`${ruleIds(lastCheck)} ${checkTitle(lastCheck)}`}</span>}
        {leftMs !== null && <span class="fine">{`about ${formatDuration(leftMs)} left`}</span>}
      </p>
      <progress aria-labelledby="running-title" max={Math.max(1, total)} value={done} />
      {problems.map((text, index) => (
        <p key={index} class="problem">
          {text}
        </p>
      ))}
    </section>
  );
}

interface CountsProps {
  readonly counts: RuleCounts;
  /** True: the findings are not read yet. */
  readonly isUnread: boolean;
  readonly trend: readonly TrendDay[];
  readonly choose: (state: RuleState) => void;
}

/** The counts of rules by DISA's own categories; a waived failure stays one, and is named next to it. */
export function Counts({ counts, isUnread, trend, choose }: CountsProps) {
  const { cat, waived } = counts;
  const categories = severities.filter((severity) => cat[severity] > 0);
  const tile = (state: RuleState) => (
    <button type="button" class={`count count-${state}`} onClick={() => choose(state)}>
      <span class="figure">{isUnread ? "–" : counts[state]}</span>
      {` ${stateNames[state]}`}
    </button>
  );
  return (
    <div class="counts row wrap" role="group" aria-label="Counts of rules">
      {tile("fail")}
      {counts.fail > 0 && (
        <span class="count-parts">
          {"= "}
          {categories.map((severity, index) => (
            <span key={severity} class={severity === "high" && counts.cat1Open > 0 ? "strong-fail" : ""}>
              {`${index > 0 ? " · " : ""}${cat[severity]} ${categoryNames[severity]}`}
            </span>
          ))}
          {waived > 0 && <span class="fine">{` (${waived} waived)`}</span>}
        </span>
      )}
      {tile("pass")}
      {tile("manual")}
      {counts.automatedPass > 0 && <span class="fine">{`(${counts.automatedPass} pass as far as automated)`}</span>}
      {tile("not_applicable")}
      {counts.none > 0 && !isUnread && <span class="fine">{`${counts.none} not evaluated`}</span>}
      <span class="grow" />
      {trend.length > 0 && <Trend days={trend} />}
    </div>
  );
}
