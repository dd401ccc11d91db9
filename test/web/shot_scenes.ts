import { setTimeout as wait } from "node:timers/promises";
import type { DrivenTab } from "../support/driven_browser.ts";
import type { ShotId, ShotStage, ShotTenant } from "./shot_stage.ts";

/** One view of the page in one state. */
export interface Scene {
  readonly name: string;
  /** What it shows, for those who look through the pictures. */
  readonly title: string;
  /** Null: nobody is signed in. */
  readonly tenant: ShotTenant | null;
  readonly address: (ids: ShotStage["ids"]) => string;
  /** It is there once this is. */
  readonly ready: string;
  /** Clicked one after the other, each as soon as it is there. */
  readonly clicks?: readonly string[];
  /** What to see in the middle of the screen. */
  readonly shown?: string;
  /** The gateway goes away once it is ready, and this appears. */
  readonly away?: string;
  /** The person looked last long ago: everything bad has happened since. */
  readonly isLongAgo?: true;
  /** Also as it is printed. */
  readonly isPrinted?: true;
  /** Also on large screens. */
  readonly isWall?: true;
}

const at = (kind: "organizations" | "scans", id: ShotId) => (ids: ShotStage["ids"]) => `#/${kind}/${ids[id]}`;
const is = (address: string) => () => address;
const live = 'main .connection[data-state="live"]';
const ended = 'main .connection[data-state="ended"]';
const settings = (id: string, ready: string): Omit<Scene, "name" | "title"> => ({
  tenant: "acme",
  address: is(`#/settings/${id}`),
  ready,
});

export const scenes: readonly Scene[] = [
  { name: "sign_in", title: "Sign in", tenant: null, address: is(""), ready: ".sign-in" },
  {
    name: "first_use",
    title: "First use: nothing was scanned yet",
    tenant: "empty",
    address: is(""),
    ready: ".message",
  },
  {
    name: "overview_one",
    title: "Overview of one organization",
    tenant: "one",
    address: is("#/"),
    ready: ".organization",
  },
  {
    name: "overview",
    title: "Overview of several organizations",
    tenant: "acme",
    address: is("#/"),
    ready: ".organization",
  },
  {
    name: "overview_200",
    title: "Overview of 200 organizations",
    tenant: "large",
    address: is("#/"),
    ready: ".organization",
  },
  {
    name: "monitored",
    title: "An organization that a monitor follows",
    tenant: "acme",
    address: at("organizations", "monitoredOrg"),
    ready: `${live}, .timeline .change`,
  },
  {
    name: "changes_open",
    title: "Its changes, unfolded",
    tenant: "acme",
    address: at("organizations", "monitoredOrg"),
    ready: ".change-group summary",
    clicks: [".change-group summary"],
    shown: ".timeline",
  },
  {
    name: "calendar",
    title: "A year of it, and its exposures",
    tenant: "acme",
    address: at("organizations", "monitoredOrg"),
    ready: ".history-card summary",
    clicks: [".history-card summary", ".calendar"],
    shown: ".history-card",
    isPrinted: true,
  },
  {
    name: "stale",
    title: "A monitor that no longer reports",
    tenant: "acme",
    address: at("organizations", "staleOrg"),
    ready: ".pulse",
  },
  {
    name: "blind",
    title: "A monitor that cannot read the log",
    tenant: "acme",
    address: at("organizations", "blindOrg"),
    ready: ".pulse",
  },
  {
    name: "ended",
    title: "A monitor that has ended",
    tenant: "acme",
    address: at("organizations", "endedOrg"),
    ready: ".pulse",
  },
  {
    name: "scanned",
    title: "An organization that is scanned at times, with causes",
    tenant: "acme",
    address: at("organizations", "scannedOrg"),
    ready: ended,
  },
  {
    name: "scan_running",
    title: "A scan while it runs",
    tenant: "running",
    address: at("scans", "running"),
    ready: live,
  },
  {
    name: "scan_finished",
    title: "A scan that has finished",
    tenant: "acme",
    address: at("scans", "finished"),
    ready: ended,
  },
  { name: "scan_failed", title: "A scan that failed", tenant: "acme", address: at("scans", "failed"), ready: ended },
  {
    name: "findings",
    title: "Findings, filtered",
    tenant: "acme",
    address: (ids) => `#/scans/${ids.finished}?status=fail`,
    ready: ".finding",
    shown: "#findings",
    isPrinted: true,
  },
  {
    name: "finding",
    title: "One finding: what was expected, what is, and where it was read",
    tenant: "acme",
    address: (ids) => `#/scans/${ids.before}?finding=${encodeURIComponent(ids.finding)}`,
    ready: ".finding[open] .fix",
    shown: ".finding[open]",
  },
  {
    name: "deciding",
    title: "A waiver",
    tenant: "acme",
    address: (ids) => `#/scans/${ids.before}?finding=${encodeURIComponent(ids.finding)}`,
    ready: ".finding[open] .button",
    clicks: [".finding[open] .button"],
    shown: "dialog",
  },
  {
    name: "attesting",
    title: "An attestation",
    tenant: "acme",
    address: (ids) => `#/scans/${ids.before}?status=manual`,
    // Decisions are read after the findings.
    ready: ".finding-decision",
    // One that nobody has attested yet; next to its waiver.
    clicks: [".finding:not(:has(.finding-decision)) summary", ".finding[open] .button + .button"],
    shown: "dialog",
  },
  {
    name: "comparison",
    title: "Two scans, compared",
    tenant: "acme",
    address: ({ before, finished }) => `#/compare/${before}/${finished}`,
    ready: ".compare .change",
    isPrinted: true,
  },
  {
    name: "decisions",
    title: "Decisions",
    tenant: "acme",
    address: is("#/decisions"),
    ready: ".decision",
    isPrinted: true,
  },
  { name: "settings_session", title: "Settings: the session", ...settings("session", ".settings-section") },
  { name: "settings_members", title: "Settings: members", ...settings("members", ".settings-row") },
  { name: "settings_keys", title: "Settings: API keys", ...settings("keys", ".settings-row") },
  {
    name: "settings_question",
    title: "Settings: a question before something is revoked",
    ...settings("keys", ".settings-row"),
    clicks: [".settings-row .button"],
  },
  { name: "settings_tenant", title: "Settings: the tenant", ...settings("tenant", ".settings-section form") },
  {
    name: "audit",
    title: "The audit trail, as an auditor sees it",
    ...settings("audit", ".settings-section table, .settings-row"),
    tenant: "auditor",
  },
  {
    name: "help",
    title: "Keyboard shortcuts",
    tenant: "acme",
    address: is("#/"),
    ready: ".shortcuts-button",
    clicks: [".organization", ".shortcuts-button"],
    shown: "dialog",
  },
  { name: "wall", title: "The wall", tenant: "acme", address: is("#/wall"), ready: ".wall-row", isWall: true },
  {
    name: "wall_200",
    title: "The wall with 200 organizations",
    tenant: "large",
    address: is("#/wall"),
    ready: ".wall-row",
    isWall: true,
  },
  {
    name: "wall_away",
    title: "The wall while the gateway is away",
    tenant: "away",
    address: is("#/wall"),
    ready: ".wall-row",
    away: ".wall-alarm",
  },
  {
    name: "gateway_away",
    title: "The gateway is away",
    tenant: "away",
    address: is("#/"),
    ready: ".organization",
    away: '.top .connection[data-state="reconnecting"]',
  },
  {
    name: "forbidden",
    title: "What a viewer may not see",
    tenant: "viewer",
    address: is("#/settings/audit"),
    ready: ".settings-section",
  },
  {
    name: "unknown_scan",
    title: "A scan that is not there, or is another tenant's",
    tenant: "viewer",
    address: is("#/scans/00000000-0000-4000-8000-000000000000"),
    ready: ".message",
  },
  {
    name: "unknown_page",
    title: "An address that names nothing",
    tenant: "viewer",
    address: is("#/nothing"),
    ready: ".message",
  },
  // The last one, because the browser remembers it.
  {
    name: "attention",
    title: "What happened since the person looked",
    tenant: "acme",
    address: is("#/"),
    ready: ".organization",
    isLongAgo: true,
  },
];

/** As if the person had acknowledged at the beginning of the year, when there was no organization, and came back now. */
const lookLongAgo = `(() => {
  document.querySelector(".attention button:last-of-type").click();
  for (const key of Object.keys(localStorage).filter((name) => name.startsWith("scanstream.seen."))) {
    localStorage.setItem(key, '{"at":1767225600000,"organizations":{}}');
  }
  document.documentElement.dataset.old = "";
  setTimeout(() => location.reload());
})()`;

/** In the page: resolves when nothing in it has changed for a quarter of a second, or after two seconds of changes. */
const still = `new Promise((resolve) => {
  const seen = new MutationObserver(() => (clearTimeout(timer), timer = setTimeout(resolve, 250)));
  let timer = setTimeout(resolve, 250);
  setTimeout(resolve, 2000);
  seen.observe(document, { attributes: true, characterData: true, childList: true, subtree: true });
}).then(() => undefined)`;

/** Opens a scene and waits until it is there. The gateway that went away for it is for the caller to start again. */
export async function showScene<Tab extends Pick<DrivenTab, "evaluate">>(
  { gateway, awayGateway, tenants, ids }: ShotStage,
  { name, tenant, address, ready, clicks = [], shown, away, isLongAgo }: Scene,
  open: (url: string) => Promise<Tab>,
): Promise<Tab> {
  const shot = tenant === "away" ? awayGateway : gateway;
  shot.setDemo(tenant === null ? null : tenants[tenant]);
  const tab = await open(`${shot.url}/${address(ids)}`);
  const quoted = (selector: string) => `document.querySelector(${JSON.stringify(selector)})`;
  const until = async (selector: string) => {
    // Between two documents there is nothing to ask.
    const isThere = () => tab.evaluate(`${quoted(selector)} !== null`).catch(() => false);
    for (let tries = 0; (await isThere()) !== true; tries += 1) {
      if (tries === 150) throw new Error(`Cannot show ${name}: ${selector} does not appear`);
      await wait(100);
    }
  };
  await until(ready);
  if (isLongAgo === true) {
    await tab.evaluate(lookLongAgo);
    await until(`html:not([data-old]) .attention:not([hidden])`);
  }
  for (const selector of clicks) {
    await until(selector);
    await tab.evaluate(`${quoted(selector)}.click?.()`);
    await tab.evaluate(still);
  }
  if (away !== undefined) {
    await awayGateway.stop();
    await until(away);
  }
  // What else it shows is read, and has its place.
  await tab.evaluate(still);
  if (shown !== undefined) {
    await until(shown);
    await tab.evaluate(`${quoted(shown)}.scrollIntoView({ block: "start", behavior: "instant" })`);
  }
  return tab;
}
