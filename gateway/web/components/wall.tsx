import { useEffect, useState } from "preact/hooks";
import { formatClock, formatDuration } from "../model/format.ts";
import type { OverviewRow } from "../model/overview.ts";
import { needsAttention, notReviewed } from "../model/overview.ts";
import type { Session } from "../model/session.ts";
import { Icon } from "./basics.tsx";
import { useAttention, type WatchedTenant } from "./attention.tsx";
import { useTitle } from "./hooks.ts";
import { pulseLooks } from "./monitors/pulse.tsx";

/** As many below the worst one as can be read from three meters; the others are names and colors, which need room, too. */
const largeRows = (count: number) => (count <= 9 ? 8 : count <= 40 ? 5 : 3);
const versionEveryMs = 600_000;

/** All organizations for a screen on a wall: worst first, no controls, and loud when it is not live. */
export function Wall({ session, tenant }: WatchedTenant) {
  const { api } = session;
  const rows = useAttention({ session, tenant }).rows?.filter(({ isEnded }) => !isEnded) ?? null;
  const { state, problem, refetchedAtMs } = tenant.connection;
  const isLive = state === "live";
  useTitle("Wall");
  useWakeLock();
  const isOld = useNewVersion(session);
  const [worst, ...others] = rows ?? [];
  const large = largeRows(rows?.length ?? 0);
  return (
    <main class="wall" data-live={isLive}>
      <header class="wall-head">
        <h1>{rows === null ? "Loading organizations…" : `${isLive ? "" : "Last known: "}${toHeadline(rows)}`}</h1>
        <p class="wall-live" role="status">
          {isLive ? `Live · ${formatClock(api.nowMs())}` : formatClock(api.nowMs())}
        </p>
      </header>
      {!isLive && (
        <p class="wall-alarm" role="alert">
          {refetchedAtMs === null
            ? `NOT LIVE: ${problem ?? "connecting"}`
            : `NOT LIVE for ${formatDuration(api.nowMs() - refetchedAtMs)}: ${problem ?? "connecting"}. What you see is old.`}
        </p>
      )}
      {worst !== undefined && <Large row={worst} isFirst={isBad(worst)} />}
      <ol class="wall-rows">
        {others.slice(0, large).map((row) => (
          <li key={row.organization.id}>
            <Large row={row} isFirst={false} />
          </li>
        ))}
      </ol>
      {others.length > large && (
        <ol class="wall-tiles">
          {others.slice(large).map((row) => (
            <li key={row.organization.id} class={`tinted ${toneOf(row)}`}>
              {row.organization.name}
            </li>
          ))}
        </ol>
      )}
      {rows !== null && (
        <p class="wall-foot">
          CAT I is the most severe category of a failed rule. Stale: the monitor does not report. Blind: the log cannot
          be read.
        </p>
      )}
      {isOld && <p class="wall-foot">A new version of this page is available. Reload the page, then sign in again.</p>}
    </main>
  );
}

function Large({ row, isFirst }: { readonly row: OverviewRow; readonly isFirst: boolean }) {
  const { organization, pulse } = row;
  const { name, cat1_open: cat1, cat2_open: cat2, cat3_open: cat3 } = organization;
  const look = pulse === null ? null : pulseLooks[pulse];
  const facts = [
    [cat1, "CAT I"],
    [cat2, "CAT II"],
    [cat3, "CAT III"],
  ] as const;
  const open = facts.filter(([count]) => count > 0).map(([count, words]) => `${count} ${words}`);
  const state = open.length === 0 ? "Nothing open" : `${open.join(" · ")} open`;
  return (
    <div class={`wall-row tinted ${toneOf(row)}`} data-first={isFirst}>
      <h2>
        {isFirst && <span class="wall-worst">Worst</span>}
        <span class="wall-name">{name}</span>
      </h2>
      <p>
        {hasResult(row) ? state : "No result yet"}
        {open.length === 0 && notReviewed(organization) > 0 ? ` · ${notReviewed(organization)} not reviewed` : ""}
      </p>
      <p class="wall-pulse row">
        {look === null ? (
          "No monitor"
        ) : (
          <>
            <Icon name={look.icon} />
            {look.words}
          </>
        )}
      </p>
    </div>
  );
}

function isBad({ organization, pulse }: OverviewRow): boolean {
  return organization.cat1_open > 0 || organization.cat2_open > 0 || pulse === "stale" || pulse === "blind";
}

function toneOf({ organization, pulse }: OverviewRow): string {
  if (organization.cat1_open > 0) return "tone-fail";
  if (pulse === "stale") return "tone-fail";
  if (pulse === "blind") return "tone-blind";
  if (pulse === "unknown") return "tone-none";
  if (organization.cat2_open > 0 || pulse === "delayed") return "tone-manual";
  return organization.fail + organization.pass === 0 ? "tone-none" : "tone-pass";
}

function hasResult({ organization: { pass, fail, manual } }: OverviewRow): boolean {
  return pass + fail + manual > 0;
}

function toHeadline(rows: readonly OverviewRow[]): string {
  const all = rows.length;
  const bad = rows.filter(needsAttention).length;
  const known = rows.filter(hasResult).length;
  if (all === 0) return "No organizations yet";
  if (bad > 0)
    return `${bad} of ${all} ${all === 1 ? "organization" : "organizations"} ${bad === 1 ? "needs" : "need"} attention`;
  if (known === 0) return "No result yet";
  if (known < all) return `No CAT I rule is open in the ${known} of ${all} organizations with a result`;
  return "No CAT I rule is open";
}

const wakeLockPauseMs = 5000;

/** The browser takes it away when the page is hidden, and also while it is shown, to save power. */
function useWakeLock(): void {
  useEffect(() => {
    const closing = new AbortController();
    const { signal } = closing;
    let held: WakeLockSentinel | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hold = async () => {
      if (!("wakeLock" in navigator) || document.visibilityState === "hidden") return;
      // Refused while the battery is low: the screen then turns off as it would without.
      held = await navigator.wakeLock.request("screen").catch(() => null);
      held?.addEventListener("release", holdLater, { signal });
      if (signal.aborted) void held?.release();
    };
    const holdLater = () => {
      clearTimeout(timer);
      timer = setTimeout(() => void hold(), wakeLockPauseMs);
    };
    document.addEventListener("visibilitychange", () => void hold(), { signal });
    void hold();
    return () => {
      closing.abort();
      clearTimeout(timer);
      void held?.release();
    };
  }, []);
}

/** Loads the page again when the gateway has another one. True: it has, and this session would not survive that. */
function useNewVersion(session: Session): boolean {
  const [isOld, setOld] = useState(false);
  useEffect(() => {
    const own = scriptOf(document);
    const closing = new AbortController();
    const look = async () => {
      const response = await fetch(document.baseURI, { cache: "no-store", signal: closing.signal });
      if (!response.ok) return;
      const [, script] = /<script[^>]+src="([^"]+)"/.exec(await response.text()) ?? [];
      if (script === undefined || script === own) return;
      if (session.kind === "demo") location.reload();
      // The issuer knows the person still, and sends them back to this wall.
      else if (session.kind === "issuer") await session.signInAgain();
      else setOld(true);
    };
    const timer = setInterval(() => void look().catch(() => undefined), versionEveryMs);
    return () => {
      closing.abort();
      clearInterval(timer);
    };
  }, [session]);
  return isOld;
}

function scriptOf(page: Document): string | null {
  return page.querySelector("script[type=module]")?.getAttribute("src") ?? null;
}
