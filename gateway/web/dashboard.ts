import { element, setText } from "./dom.ts";
import { formatOrg } from "./format.ts";
import { createFrameRenderer } from "./frame.ts";
import { createMessage } from "./message_view.ts";
import { createScanListView } from "./scan_list_view.ts";
import { createScanView, type ScanView } from "./scan_view.ts";
import { isEnded, type Scan } from "./scan_wire.ts";
import { createScansStore } from "./scans_store.ts";
import type { Session } from "./session.ts";

export interface Dashboard {
  readonly element: HTMLElement;
  close(): void;
}

const historyLimit = 200;

/** The signed-in page: the tenant's scans beside the one that is looked at. `#/scans/<id>` says which. */
export function createDashboard(session: Session, actions: { readonly signOut: () => void }): Dashboard {
  const closing = new AbortController();
  const { signal } = closing;
  let view: ScanView | null = null;
  let viewId: string | null = null;
  /** The person chose this scan; one that the page opened by itself may be left by itself. */
  let isChosen = false;
  let isOpeningItself = false;
  let history: readonly Scan[] = [];
  let sharedKey = "";
  let sharedWith: ScanView | null = null;

  const renderer = createFrameRenderer(render);
  const store = createScansStore(session.api, () => {
    openNewest();
    renderer.request();
  });
  const list = createScanListView({ loadMore: () => store.loadMore() });
  const main = element("main", { attributes: { tabindex: -1, id: "main" } });
  const offerText = element("span");
  const offerLink = element("a", { class: "button button-small button-primary", text: "Watch it" });
  const offer = element("p", { class: "notice offer", attributes: { role: "status", hidden: true } }, [
    offerText,
    offerLink,
  ]);
  const placeholder = createMessage({
    level: 1,
    title: "Choose a scan",
    text: "Its progress and findings appear here, live while it runs.",
  });

  function route({ isChoice }: { readonly isChoice: boolean }): void {
    const scanId = toScanId(location.hash);
    isChosen = isChoice && !isOpeningItself;
    const isFollowed = isChosen && scanId !== null && viewId !== scanId;
    isOpeningItself = false;
    document.body.dataset["route"] = scanId === null ? "list" : "scan";
    if (scanId !== viewId || view === null) open(scanId);
    // Whoever follows a link lands at what it leads to, also with a screen reader.
    if (isFollowed) main.focus({ preventScroll: true });
    renderer.request();
  }

  function open(scanId: string | null): void {
    view?.close();
    view = null;
    viewId = scanId;
    if (scanId === null) {
      document.title = "Scans · scanstream";
      main.replaceChildren(offer, placeholder);
      openNewest();
      return;
    }
    view = createScanView(scanId, {
      api: session.api,
      onScan: (scan) => {
        store.put(scan);
        shareHistory();
      },
      onReopen: () => open(scanId),
    });
    main.replaceChildren(offer, view.element);
    scrollTo(0, 0);
    void loadHistory();
  }

  /** In the demo somebody waits for the scan that was just started: it is opened when it appears. */
  function openNewest(): void {
    const newest = store.scans[0];
    if (!session.isDemo || newest === undefined || isChosen || newest.id === viewId) return;
    const isIdle = view === null || (view.scan !== null && isEnded(view.scan.status));
    if (!isIdle || (view !== null && isEnded(newest.status))) return;
    isOpeningItself = true;
    // Replaced, so that "back" leaves the page instead of coming back here.
    location.replace(`#/scans/${newest.id}`);
  }

  async function loadHistory(): Promise<void> {
    try {
      const page = await session.api.listScans({ limit: historyLimit, cursor: null, signal });
      history = page.items;
    } catch {
      // The trend is drawn of what the list knows.
    }
    shareHistory();
  }

  function shareHistory(): void {
    const orgUrl = view?.scan?.orgUrl;
    if (view === null || orgUrl === undefined || orgUrl === null) return;
    const known = new Map([...history, ...store.scans].map((scan) => [scan.id, scan]));
    const scans = [...known.values()].filter((scan) => scan.orgUrl === orgUrl);
    const key = JSON.stringify(scans.map(({ id, status, pass, fail, manual }) => [id, status, pass, fail, manual]));
    if (key === sharedKey && view === sharedWith) return;
    sharedKey = key;
    sharedWith = view;
    view.setHistory(scans);
  }
  function render(): void {
    list.update(store, viewId);
    shareHistory();
    renderOffer();
  }

  /** A scan that started while an ended one is looked at. */
  function renderOffer(): void {
    const current = view?.scan ?? null;
    const newer = store.scans.find((scan) => !isEnded(scan.status) && scan.id !== viewId);
    const isOffered =
      newer !== undefined &&
      current !== null &&
      isEnded(current.status) &&
      (newer.createdAtMs ?? 0) >= (current.createdAtMs ?? 0);
    offer.hidden = !isOffered;
    if (!isOffered) return;
    setText(offerText, `A new scan of ${formatOrg(newer)} has started.`);
    offerLink.setAttribute("href", `#/scans/${newer.id}`);
  }

  const skip = element("button", {
    class: "skip button",
    text: "Skip to the scan",
    attributes: { type: "button" },
    on: { click: () => main.focus() },
  });
  const top = element("header", { class: "top" }, [
    skip,
    element("a", { class: "brand", attributes: { href: "#/" } }, [
      element("img", { attributes: { src: iconUrl(), alt: "", width: 26, height: 26 } }),
      "scanstream",
    ]),
    element("span", { class: "tenant", text: session.tenantName === "Demo" ? "" : (session.tenantName ?? "") }),
    session.isDemo
      ? element("span", { class: "badge badge-demo", text: "Demo" })
      : element("button", {
          class: "button button-quiet",
          text: "Sign out",
          attributes: { type: "button" },
          on: { click: actions.signOut },
        }),
  ]);
  addEventListener("hashchange", () => route({ isChoice: true }), { signal });
  const dashboard = element("div", { class: "dashboard" }, [
    top,
    element("div", { class: "columns" }, [list.element, main]),
  ]);
  route({ isChoice: toScanId(location.hash) !== null });
  return {
    element: dashboard,
    close() {
      closing.abort();
      renderer.stop();
      view?.close();
      store.close();
    },
  };
}

/** The icon of the document, so that its address is written only once. */
function iconUrl(): string {
  return document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href ?? "";
}

function toScanId(hash: string): string | null {
  const [, scanId] = /^#\/scans\/([0-9a-zA-Z-]{1,64})$/.exec(hash) ?? [];
  return scanId ?? null;
}
