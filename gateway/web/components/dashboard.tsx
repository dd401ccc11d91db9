import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { mayDo } from "../model/caller.ts";
import { formatOrg } from "../model/format.ts";
import { followTenant } from "../model/tenant_follower.ts";
import type { Session } from "../model/session.ts";
import { isEnded, type Scan } from "../scan_wire.ts";
import type { Monitor } from "../monitor_wire.ts";
import { Account, SessionEnd, type AccountActions } from "./account.tsx";
import { AttentionBar } from "./attention.tsx";
import { Message } from "./basics.tsx";
import { ComparePage } from "./compare/compare_page.tsx";
import { ConnectionState } from "./connection.tsx";
import { DecisionsPage } from "./decisions/decisions_page.tsx";
import { useStore, useTitle } from "./hooks.ts";
import { MonitorList } from "./monitors/monitor_list.tsx";
import { MonitorPage } from "./monitors/monitor_page.tsx";
import { ScanList } from "./scan_list.tsx";
import { ScanPage } from "./scan_page.tsx";
import { SettingsPage } from "./settings/settings_page.tsx";
import { Wall } from "./wall.tsx";

/** `#/scans/<id>`, `#/monitors/<id>`, `#/compare/<before>/<after>`, `#/decisions` or `#/settings/<section>` in the address. */
interface Route {
  readonly scanId: string | null;
  readonly monitorId: string | null;
  readonly compared: Compared | null;
  /** Empty: the first section. */
  readonly settings: string | null;
  readonly isDecisions: boolean;
  /** By the person; a scan that the page opened by itself may be left by itself. */
  readonly isChosen: boolean;
}

interface Compared {
  readonly beforeId: string;
  readonly afterId: string;
}

/** For all scans and monitors together: many that run change many times a second. */
const manyScansPauseMs = 250;

/** The signed-in page: the tenant's scans next to the one that is looked at. */
export function Dashboard({ session, ...account }: AccountActions & { readonly session: Session }) {
  const { api } = session;
  const isDemo = session.kind === "demo";
  const [tenant] = useStore(
    (onChange) => followTenant(api, onChange, account.onRefused),
    () => manyScansPauseMs,
  );
  const { scans, monitors, decisions } = tenant;
  const main = useRef<HTMLElement>(null);
  // Whoever comes with an address has chosen, also where it leads to nothing.
  const [route, setRoute] = useState<Route>(() => ({
    ...toRoute(location.hash),
    isChosen: !/^#?\/?$/.test(location.hash),
  }));
  const [attempt, setAttempt] = useState(0);
  /** The scan that is looked at, as its stream knows it. */
  const [opened, setOpened] = useState<Scan | null>(null);
  const current = opened?.id === route.scanId ? opened : null;
  const isListed = isListRoute(route);
  useTitle(isListed ? "Scans" : null);

  useEffect(() => {
    const onHashChange = () => {
      const next = toRoute(location.hash);
      const targetOf = (of: Omit<Route, "isChosen">) =>
        of.scanId ?? of.monitorId ?? of.settings ?? (of.isDecisions ? "decisions" : null);
      setRoute({ ...next, isChosen: true });
      // A followed link leads to its target also with a screen reader.
      if (targetOf(next) !== null && targetOf(next) !== targetOf(route)) main.current?.focus({ preventScroll: true });
    };
    addEventListener("hashchange", onHashChange);
    return () => removeEventListener("hashchange", onHashChange);
  }, [route]);

  // The demo runs its own scan, and a person waits for it: it is opened when it appears.
  const newest = scans.items[0];
  const isIdle = route.scanId === null || (current !== null && isEnded(current.status));
  const isOpenedByItself =
    isDemo &&
    newest !== undefined &&
    !route.isChosen &&
    newest.id !== route.scanId &&
    isIdle &&
    (route.scanId === null || !isEnded(newest.status));
  const newestId = isOpenedByItself ? newest.id : null;
  useEffect(() => {
    if (newestId === null) return;
    // Replaced, so that "back" leaves the page instead of coming back here.
    history.replaceState(null, "", `#/scans/${newestId}`);
    setRoute({ ...noRoute, scanId: newestId, isChosen: false });
  }, [newestId]);

  const onScan = useCallback(
    (scan: Scan) => {
      setOpened(scan);
      scans.put(scan);
    },
    [scans],
  );
  const onMonitor = useCallback((monitor: Monitor) => monitors.put(monitor), [monitors]);
  const offered = findNewer(scans.items, current);

  if (isWall(location.hash)) return <Wall session={session} tenant={tenant} />;
  return (
    <div class="dashboard" data-route={isListed ? "list" : "scan"}>
      <header class="top row">
        <button type="button" class="skip button" onClick={() => main.current?.focus()}>
          Skip to the scan
        </button>
        <a class="brand row" href="#/">
          <img src={iconUrl()} alt="" width={26} height={26} />
          scanstream
        </a>
        <Account session={session} {...account} />
      </header>
      <SessionEnd session={session} />
      <AttentionBar session={session} tenant={tenant} />
      <div class="columns">
        <aside class="sidebar" aria-label="Organizations and scans">
          <ConnectionState connection={tenant.connection} retryNow={tenant.retryNow} />
          <MonitorList
            store={monitors}
            selectedId={route.monitorId}
            isLive={tenant.connection.state === "live"}
            nowMs={api.nowMs}
          />
          <ScanList store={scans} selectedId={route.scanId} connection={tenant.connection} />
        </aside>
        <main ref={main} id="main" tabIndex={-1}>
          <p class="notice row wrap" role="status" hidden={offered === null}>
            {offered !== null && (
              <>
                <span>{`A new scan of ${formatOrg(offered)} has started.`}</span>
                <a class="button button-small button-primary" href={`#/scans/${offered.id}`}>
                  Watch it
                </a>
              </>
            )}
          </p>
          {route.isDecisions ? (
            <DecisionsPage
              api={api}
              store={decisions}
              scans={scans.items}
              mayDecide={mayDo(session.caller, "decide")}
            />
          ) : route.settings !== null ? (
            <SettingsPage session={session} section={route.settings} />
          ) : route.compared !== null ? (
            <ComparePage
              key={`${route.compared.beforeId} ${route.compared.afterId} ${attempt}`}
              api={api}
              {...route.compared}
              onReopen={() => setAttempt(attempt + 1)}
            />
          ) : route.monitorId !== null ? (
            <MonitorPage
              key={`${route.monitorId} ${attempt}`}
              api={api}
              monitorId={route.monitorId}
              onMonitor={onMonitor}
              onReopen={() => setAttempt(attempt + 1)}
            />
          ) : route.scanId === null ? (
            <Message
              level={1}
              title="Choose a scan"
              text="Its progress and findings appear here, live while it runs."
            />
          ) : (
            <ScanPage
              key={`${route.scanId} ${attempt}`}
              api={api}
              scanId={route.scanId}
              caller={session.caller}
              isDeleted={tenant.deletedScans.has(route.scanId)}
              knownScans={scans.items}
              decisions={decisions}
              onScan={onScan}
              onReopen={() => setAttempt(attempt + 1)}
            />
          )}
        </main>
      </div>
    </div>
  );
}

/** A scan that started while an ended one is looked at. */
function findNewer(scans: readonly Scan[], current: Scan | null): Scan | null {
  if (current === null || !isEnded(current.status)) return null;
  const running = scans.find(({ id, status }) => !isEnded(status) && id !== current.id);
  return running !== undefined && (running.createdAtMs ?? 0) >= (current.createdAtMs ?? 0) ? running : null;
}

function isWall(address: string): boolean {
  return /^#\/wall(?:$|\?)/.test(address);
}

/** The icon of the document, so that its address is written only once. */
function iconUrl(): string {
  return document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href ?? "";
}

function isListRoute({ scanId, monitorId, compared, settings, isDecisions }: Omit<Route, "isChosen">): boolean {
  return scanId === null && monitorId === null && compared === null && settings === null && !isDecisions;
}

const noRoute: Omit<Route, "isChosen"> = {
  scanId: null,
  monitorId: null,
  compared: null,
  settings: null,
  isDecisions: false,
};

/** Unknown hashes show the list. A query string, which mail and chat clients append, is ignored. */
function toRoute(address: string): Omit<Route, "isChosen"> {
  const [hash = ""] = address.split("?");
  if (hash === "#/decisions") return { ...noRoute, isDecisions: true };
  const [, beforeId, afterId] = /^#\/compare\/([0-9a-zA-Z-]{1,64})\/([0-9a-zA-Z-]{1,64})$/.exec(hash) ?? [];
  if (beforeId !== undefined && afterId !== undefined) return { ...noRoute, compared: { beforeId, afterId } };
  const [isSettings, settings = ""] = /^#\/settings(?:\/([a-z-]{1,64}))?$/.exec(hash) ?? [];
  if (isSettings !== undefined) return { ...noRoute, settings };
  const [, kind, id = null] = /^#\/(scans|monitors)\/([0-9a-zA-Z-]{1,64})$/.exec(hash) ?? [];
  return { ...noRoute, scanId: kind === "scans" ? id : null, monitorId: kind === "monitors" ? id : null };
}
