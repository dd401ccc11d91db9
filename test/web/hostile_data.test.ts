import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { aChange, anExplanation } from "../support/change_builders.ts";
import { produceMonitor } from "../support/monitor_producer.ts";
import { buildFinding } from "../support/scan_producer.ts";
import { scenes, showScene, type Scene } from "./shot_scenes.ts";
import type { ShotStage } from "./shot_stage.ts";
import { openPage, openStage, type WatchedPage } from "./watched_page.ts";

/** Whatever a producer, a provider or a member may name something is text on the page, in every view. */

const markup = `"'><x-attack onclick=attacked=1><img src=x onerror=attacked=1><script>attacked=1</script><a href="javascript:attacked=1">y</a>`;
const turned = "\u202eturned\u2066";
const hostile = (length: number) => `${turned}${markup}`.padEnd(length, "w").slice(0, length);
/** Where control characters are taken, too. */
const hostileText = (length: number) => `\u0001\u001b[2J\n${hostile(length - 6)}`;

const { browser, gateway } = await openStage();
const stage = await openHostileStage();
const shownTenants: ReadonlySet<string | null> = new Set(["acme", "auditor", "running"]);
/** What they show are names of hosts and counts, or the session. */
const namesNothing: ReadonlySet<string> = new Set(["settings_session", "wall"]);
/** Alarms name hosts and rules of the catalog only. */
const shown = scenes.filter(
  ({ tenant, away, isLongAgo }) => shownTenants.has(tenant) && away === undefined && isLongAgo === undefined,
);

test.each(shown)("$name: nothing of the data becomes an element, a link or a script", async (scene) => {
  const dialogs: string[] = [];
  // A policy that was violated, an error, and a request to elsewhere fail when it is closed.
  await using watched = await showHostile(scene, (page) => {
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
  });
  const seen = await watched.page.evaluate(lookAround);
  expect(seen.text.includes("x-attack") || namesNothing.has(scene.name), "it is there").toBe(true);
  expect({ ...seen, text: "" }).toEqual({
    text: "",
    wasAttacked: false,
    made: [],
    foreign: [],
    leaking: [],
    tooWide: 0,
  });
  expect(dialogs).toEqual([]);
});

async function showHostile(scene: Scene, beforeOpen: (page: Page) => void): Promise<WatchedPage> {
  const opened: WatchedPage[] = [];
  await showScene(stage, scene, async (url) => {
    const watched = await openPage(browser, url, { beforeOpen: async (page) => beforeOpen(page) });
    opened.push(watched);
    return { evaluate: (expression) => watched.page.evaluate(expression) };
  });
  const [watched] = opened;
  if (watched === undefined) throw new Error("The scene has opened no page");
  return watched;
}

/** Runs in the page. */
function lookAround() {
  const all = [...document.querySelectorAll("*")];
  const named = (elements: readonly Element[]) => elements.map(({ outerHTML }) => outerHTML.slice(0, 200));
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  const icons = new Set([icon?.href, ...Object.values(icon?.dataset ?? {})]);
  const addresses = ["href", "src", "action", "formaction", "xlink:href"];
  const isInline = (element: Element) => {
    const { display, unicodeBidi } = getComputedStyle(element);
    return display === "inline" && !["isolate", "isolate-override", "plaintext"].includes(unicodeBidi);
  };
  const holdsTurned = ({ nodeType, nodeValue }: Node) => nodeType === Node.TEXT_NODE && nodeValue?.includes("\u202e");
  return {
    text: document.body.textContent,
    wasAttacked: "attacked" in globalThis,
    made: named(
      all.filter(
        (element) =>
          ["x-attack", "iframe", "object", "embed"].includes(element.localName) ||
          (element instanceof HTMLImageElement && !icons.has(element.src)) ||
          [...element.attributes].some(({ name }) => name.startsWith("on")),
      ),
    ),
    foreign: named(
      all.filter((element) =>
        addresses.some((name) => {
          const address = element.getAttribute(name);
          return (
            address !== null && !icons.has(address) && !/^https?:$/.test(new URL(address, document.baseURI).protocol)
          );
        }),
      ),
    ),
    // What turns the direction of its own text turns that of its neighbours, too.
    leaking: named(all.filter((element) => [...element.childNodes].some(holdsTurned) && isInline(element))),
    tooWide: Math.max(0, document.documentElement.scrollWidth - innerWidth),
  };
}

async function openHostileStage(): Promise<ShotStage> {
  const [acme, other] = [await gateway.createTenant(hostile(200)), await gateway.createTenant(hostile(200))];
  for (const tenant of [acme, other]) await gateway.addMember(tenant, "member@acme.test", "admin");
  const call = async (method: string, path: string, json: object) => {
    const response = await fetch(`${gateway.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${acme.accessToken}`, "content-type": "application/json" },
      body: JSON.stringify(json),
    });
    if (!response.ok) throw new Error(`Cannot ${method} ${path}: ${response.status} ${await response.text()}`);
  };
  const scanned = async (org: string, status: "FAIL" | "MANUAL" = "FAIL", tenant = acme) => {
    const scan = await tenant.producer.register({
      org_url: `https://${org}.okta.com/?${markup}`,
      client_id: hostileText(200),
      benchmark: hostileText(200),
      checks_total: 3,
    });
    const text = hostileText(2048);
    const texts = {
      resource_id: text,
      expected: text,
      actual: text,
      detail: text,
      cause: hostileText(64),
      resource_type: text,
    };
    const notes = { to_pass: text, evaluation: text, read_from: text, resource_name: text };
    const findings = [
      buildFinding({ ...texts, ...notes, fingerprint: "named" }),
      buildFinding({ ...texts, ...notes, fingerprint: "unknown", check: hostile(200) }),
      buildFinding({ ...texts, ...notes, fingerprint: hostile(200), check: "systemlog_streaming_enabled", status }),
      buildFinding({ ...texts, ...notes, fingerprint: "other", check: "idp_smart_card_dod_approved_ca", status }),
    ];
    await scan.check("systemlog_streaming_enabled", findings, { done: 1, total: 3 });
    return scan;
  };
  const before = await scanned("one", "MANUAL");
  await before.end("completed", { fail: 2, manual: 1 });
  const finished = await scanned("one");
  await finished.end("completed", { fail: 3 });
  const failed = await scanned("two");
  await failed.publish("scan.error", { code: "x", detail: hostileText(400) });
  await failed.end("failed", { fail: 3 });
  const running = await scanned("one", "FAIL", other);
  const monitor = await produceMonitor(gateway.url, acme.apiKey, {
    org_url: "https://monitored.okta.com/",
    client_id: hostileText(200),
  });
  const text = hostileText(2000);
  const change = { fingerprint: hostile(200), resource: { type: text, id: text, name: text }, actual: text };
  const actor = { id: text, type: text, login: text, name: text };
  const explanation = anExplanation({ actor, event_type: hostileText(200), object: { type: text, name: text } });
  await monitor.store([
    aChange({ ...change, from: null, to: { status: "PASS", reason: null }, cause: "start", explained_by: [] }),
  ]);
  await monitor.store([
    aChange({ ...change, explained_by: [explanation] }),
    aChange({ ...change, fingerprint: "other", check: hostile(200), explained_by: [explanation] }),
  ]);
  const waiver = { kind: "waiver", check: "systemlog_streaming_enabled", reason: text, resource: hostileText(200) };
  await call("POST", "/decisions", waiver);
  await call("POST", "/decisions", { ...waiver, resource: undefined });
  await call("POST", "/members", { sub: hostile(255), role: "viewer" });
  await call("POST", "/api-keys", { name: hostile(200), scopes: ["read"] });
  const list = await fetch(`${gateway.url}/api/v1/organizations?limit=200`, {
    headers: { authorization: `Bearer ${acme.accessToken}` },
  });
  const { items } = (await list.json()) as {
    readonly items: readonly { readonly id: string; readonly org_url: string }[];
  };
  const idOf = (url: string) => items.find(({ org_url }) => org_url.startsWith(url))?.id ?? "";
  const monitoredOrg = idOf("https://monitored.okta.com");
  return {
    gateway,
    awayGateway: gateway,
    tenants: { acme, auditor: acme, away: acme, empty: acme, large: acme, one: acme, running: other, viewer: acme },
    ids: {
      before: before.id,
      finished: finished.id,
      failed: failed.id,
      running: running.id,
      finding: "named",
      monitoredOrg,
      staleOrg: monitoredOrg,
      blindOrg: monitoredOrg,
      endedOrg: monitoredOrg,
      scannedOrg: idOf("https://one.okta.com"),
    },
    async [Symbol.asyncDispose]() {},
  };
}
