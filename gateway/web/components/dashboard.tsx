import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { mayDo } from "../model/caller.ts";
import { formatOrg } from "../model/format.ts";
import { parseRoute } from "../model/route.ts";
import { handleShortcut } from "../model/shortcuts.ts";
import { followTenant } from "../model/tenant_follower.ts";
import type { Session } from "../model/session.ts";
import { isEnded, type Scan } from "../scan_wire.ts";
import type { Monitor } from "../monitor_wire.ts";
import { Account, SessionEnd, type AccountActions } from "./account.tsx";
import { Message } from "./basics.tsx";
import { ConnectionState } from "./connection.tsx";
import { DecisionsPage } from "./decisions/decisions_page.tsx";
import { useStore } from "./hooks.ts";
import { MonitorPage } from "./monitors/monitor_page.tsx";
import { OrganizationPage, type ShowResource } from "./organizations/organization_page.tsx";
import { OverviewPage } from "./organizations/overview_page.tsx";
import { ScanPage } from "./scan_page.tsx";
import { SettingsPage } from "./settings/settings_page.tsx";
import { TabMark } from "./tab_mark.ts";

/** For all scans and monitors together: many that run change many times a second. */
const manyScansPauseMs = 250;

/** The signed-in page: all organizations, or what the address names. */
export function Dashboard({ session, ...account }: AccountActions & { readonly session: Session }) {
  const { api, caller } = session;
  const isDemo = session.kind === "demo";
  const [tenant] = useStore(
    (onChange) => followTenant(api, onChange, account.onRefused),
    () => manyScansPauseMs,
  );
  const { scans, monitors, decisions } = tenant;
  const main = useRef<HTMLElement>(null);
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  /** A scan that the page opened by itself may be left by itself; whoever comes with an address has chosen. */
  const [isChosen, setChosen] = useState(route.page !== "overview");
  const [attempt, setAttempt] = useState(0);
  /** The scan that is looked at, as its stream knows it. */
  const [opened, setOpened] = useState<Scan | null>(null);
  const scanId = route.page === "scan" ? route.id : null;
  const current = opened?.id === scanId ? opened : null;

  useEffect(() => {
    const onHashChange = () => {
      setRoute(parseRoute(location.hash));
      setChosen(true);
    };
    addEventListener("hashchange", onHashChange);
    return () => removeEventListener("hashchange", onHashChange);
  }, []);
  useEffect(() => {
    document.addEventListener("keydown", handleShortcut);
    return () => document.removeEventListener("keydown", handleShortcut);
  }, []);
  const target = JSON.stringify(route);
  const shownTarget = useRef(target);
  useEffect(() => {
    // A followed link leads to its target also with a screen reader.
    if (isChosen && target !== shownTarget.current) main.current?.focus({ preventScroll: true });
    shownTarget.current = target;
  }, [target, isChosen]);

  // The demo runs its own scan, and a person waits for it: it is opened while it runs.
  const newest = scans.items[0];
  const isIdle = scanId === null || (current !== null && isEnded(current.status));
  const isOpenedByItself =
    isDemo && newest !== undefined && !isChosen && newest.id !== scanId && isIdle && !isEnded(newest.status);
  const newestId = isOpenedByItself ? newest.id : null;
  useEffect(() => {
    if (newestId === null) return;
    // Replaced, so that "back" leaves the page instead of coming back here.
    history.replaceState(null, "", `#/scans/${newestId}`);
    setRoute({ page: "scan", id: newestId });
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

  const reopen = () => setAttempt(attempt + 1);

  return (
    <div class="dashboard" data-route={route.page}>
      <header class="top row">
        <button type="button" class="skip button" onClick={() => main.current?.focus()}>
          Skip to the content
        </button>
        <a class="brand row" href="#/">
          <img src={iconUrl()} alt="" width={26} height={26} />
          scanstream
        </a>
        <ConnectionState connection={tenant.connection} retryNow={tenant.retryNow} />
        <Account session={session} {...account} />
      </header>
      <SessionEnd session={session} />
      <TabMark session={session} tenant={tenant} />
      <main ref={main} id="main" class="page" tabIndex={-1}>
        <p class="notice row wrap" role="status" hidden={offered === null}>
          {offered !== null && (
            <>
              <span>
                {`A new scan of ${formatOrg(offered)} ${offered.status === "pending" ? "is waiting to start" : "has started"}.`}
              </span>
              <a class="button button-small button-primary" href={`#/scans/${offered.id}`}>
                Watch it
              </a>
            </>
          )}
        </p>
        {shownPage()}
      </main>
    </div>
  );

  function shownPage() {
    const key = `${target} ${attempt}`;
    const followed = { api, caller, decisions, onReopen: reopen };
    const show: ShowResource = ({ page, id }, more, scanId = null) =>
      page === "monitor" ? (
        <MonitorPage
          key={`${key} ${id}`}
          {...followed}
          monitorId={id}
          scanId={scanId}
          more={more}
          onMonitor={onMonitor}
        />
      ) : (
        <ScanPage
          key={`${key} ${id}`}
          {...followed}
          scanId={id}
          isDeleted={tenant.deletedScans.has(id)}
          more={more}
          onScan={onScan}
        />
      );
    switch (route.page) {
      case "overview":
        return <OverviewPage api={api} tenant={tenant} />;
      case "organization":
        return <OrganizationPage key={key} api={api} id={route.id} tenant={tenant} show={show} />;
      case "decisions":
        return <DecisionsPage api={api} store={decisions} scans={scans.items} mayDecide={mayDo(caller, "decide")} />;
      case "settings":
        return <SettingsPage session={session} section={route.section} />;
      case "monitor":
      case "scan":
        return show(route);
      case "unknown":
        break;
    }
    return (
      <Message
        level={1}
        title="Page not found"
        text={`The address ${location.hash.slice(0, 200)} is not a page of this site. Part of it may be missing.`}
        action={{ label: "All organizations", run: () => (location.hash = "#/") }}
      />
    );
  }
}

/** A scan that started while an ended one is looked at. */
function findNewer(scans: readonly Scan[], current: Scan | null): Scan | null {
  if (current === null || !isEnded(current.status)) return null;
  const running = scans.find(({ id, status }) => !isEnded(status) && id !== current.id);
  return running !== undefined && (running.createdAtMs ?? 0) >= (current.createdAtMs ?? 0) ? running : null;
}

/** The icon of the document, so that its address is written only once. */
function iconUrl(): string {
  return document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href ?? "";
}
