import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { aChange, anExplanation } from "../support/change_builders.ts";
import { buildFinding } from "../support/producers.ts";
import { member } from "../support/operator.ts";
import type { WebTenant } from "../support/web_gateway.ts";
import { expectAccessible, openPage, openStage } from "./watched_page.ts";

/**
 * Each view with data that producers, the provider and members have chosen to harm: axe finds nothing, nothing is wider than
 * a phone, and whatever was named something is text.
 */

const markup = `"'><x-attack onclick=attacked=1><img src=x onerror=attacked=1><script>attacked=1</script><a href="javascript:attacked=1">y</a>`;
const hostile = (length: number) => `\u202eturned\u2066${markup}`.padEnd(length, "w").slice(0, length);
/** Hostile text for fields that take control characters, too. */
const hostileText = (length: number) => `\u0001\u001b[2J\n${hostile(length - 6)}`;
const text = hostileText(2000);

const { browser, gateway } = await openStage();
const acme = await gateway.createTenant(hostile(200));
const empty = await gateway.createTenant("Initech");
/** The page opens by itself a scan that runs. */
const running = await gateway.createTenant(hostile(200));
await gateway.addUser(acme.id, member, "admin");
const ids = await fill(acme, running);

interface Scene {
  readonly name: string;
  /** Null: nobody is signed in. */
  readonly tenant: WebTenant | null;
  readonly address: string;
  /** Each appears after the one before was clicked; the last one is not clicked. */
  readonly steps: readonly string[];
  /** It shows nothing that somebody has named. */
  readonly isPlain?: true;
}

const rule = '.rule:has(.rule-count:text-matches("of")) > summary';

const scenes: readonly Scene[] = [
  { name: "signing in", tenant: null, address: "#/", steps: [".sign-in"], isPlain: true },
  { name: "nothing scanned yet", tenant: empty, address: "#/", steps: [".message pre"], isPlain: true },
  { name: "the overview", tenant: acme, address: "#/", steps: [".news-all summary", ".news-line"] },
  {
    name: "an organization with its monitor",
    tenant: acme,
    address: `#/monitors/${ids.monitor}`,
    steps: [rule, ".rule[open] .finding"],
  },
  {
    name: "an organization with its last scan, and the menu of files",
    tenant: acme,
    address: `#/organizations/${ids.organization}`,
    steps: [rule, ".rule[open] .finding", "[popovertarget=download]", "#download .button"],
  },
  { name: "a scan that runs", tenant: running, address: `#/scans/${ids.running}`, steps: [".running", ".rule"] },
  {
    name: "a scan that failed, and what decides",
    tenant: acme,
    address: `#/scans/${ids.failed}`,
    steps: [rule, ".rule[open] .finding summary", ".finding pre"],
  },
  {
    name: "a waiver",
    tenant: acme,
    address: `#/organizations/${ids.organization}?rule=signon_global_session_idle_timeout_15min`,
    steps: [".rule[open] .button:has-text('Waive…')", "dialog form"],
  },
  { name: "decisions", tenant: acme, address: "#/decisions", steps: [".decision"] },
  { name: "members", tenant: acme, address: "#/settings/members", steps: [".edited-list select"] },
  {
    name: "API keys, and a question",
    tenant: acme,
    address: "#/settings/keys",
    steps: [".edited-list .button", "dialog"],
  },
  { name: "an address that names nothing", tenant: empty, address: "#/nothing", steps: [".message"], isPlain: true },
];

test.each(scenes)("$name", async ({ name, tenant, address, steps, isPlain = false }) => {
  gateway.setDemo(tenant);
  const dialogs: string[] = [];
  // A policy that was violated, an error, and a request to elsewhere fail when it is closed.
  await using page = await openPage(browser, `${gateway.url}/${address}`, {
    colorScheme: "light",
    beforeOpen: async (page) => {
      page.on("dialog", (dialog) => {
        dialogs.push(dialog.message());
        void dialog.dismiss();
      });
    },
  });
  for (const [index, step] of steps.entries()) {
    const shown = page.locator(step).first();
    await shown.waitFor();
    if (index < steps.length - 1) await shown.click();
  }
  await expectAccessible(page, name);
  const seen = await page.evaluate(lookAround);
  expect(seen.text.includes("x-attack"), "it is there").toBe(!isPlain);
  expect({ ...seen, text: "" }).toEqual({ text: "", wasAttacked: false, made: [], foreign: [], leaking: [] });
  expect(dialogs).toEqual([]);

  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 320, height: 800 });
  await expectAccessible(page, `${name}, dark at 320 px`);
  await expectFitting(page);
  await page.evaluate(() => (document.documentElement.style.fontSize = "200%"));
  await page.setViewportSize({ width: 640, height: 800 });
  await expectFitting(page);
});

/** Names what is cut off. */
async function expectFitting(page: Page): Promise<void> {
  const cutOff = await page.evaluate(() =>
    document.documentElement.scrollWidth <= innerWidth
      ? []
      : [...document.querySelectorAll("#page *")]
          .filter((element) => element.getBoundingClientRect().right > innerWidth)
          .map(({ tagName, className, textContent }) => `${tagName} ${className} ${textContent.slice(0, 60)}`),
  );
  expect(cutOff).toEqual([]);
}

/** Runs in the page. */
function lookAround() {
  const all = [...document.querySelectorAll("*")];
  const drawn = all.filter((element) => !element.matches(".visually-hidden"));
  const named = (elements: readonly Element[]) => elements.map(({ outerHTML }) => outerHTML.slice(0, 200));
  // The page's own, which names nothing.
  const isIcon = (element: Element) => element.matches('.brand img, link[rel="icon"]');
  const addresses = ["href", "src", "action", "formaction", "xlink:href"];
  const isInline = (element: Element) => {
    const { display, unicodeBidi } = getComputedStyle(element);
    return display === "inline" && !["isolate", "isolate-override", "plaintext"].includes(unicodeBidi);
  };
  const isRow = (element: Element) => /flex|grid/.test(getComputedStyle(element).display);
  // A text that turns its direction turns that of its neighbors, too: those in its element, and those of an inline element.
  const leaks = ({ nodeType, nodeValue, nextSibling }: Node, element: Element) =>
    nodeType === Node.TEXT_NODE &&
    nodeValue?.includes("\u202e") === true &&
    (isInline(element) || /\u202e.* · /s.test(nodeValue) || (nextSibling !== null && !isRow(element)));
  return {
    text: document.body.textContent,
    wasAttacked: "attacked" in globalThis,
    made: named(
      all.filter(
        (element) =>
          ["x-attack", "iframe", "object", "embed"].includes(element.localName) ||
          (element.localName === "img" && !isIcon(element)) ||
          [...element.attributes].some(({ name }) => name.startsWith("on")),
      ),
    ),
    foreign: named(
      all.filter((element) =>
        addresses.some((name) => {
          const address = element.getAttribute(name);
          return address !== null && !isIcon(element) && !/^https?:$/.test(new URL(address, document.baseURI).protocol);
        }),
      ),
    ),
    leaking: named(drawn.filter((element) => [...element.childNodes].some((node) => leaks(node, element)))),
  };
}

async function fill(tenant: WebTenant, other: WebTenant) {
  const call = async (method: string, path: string, json?: object): Promise<unknown> => {
    const response = await gateway.send(method, path, json, `Bearer ${tenant.token}`);
    if (!response.ok) throw new Error(`Cannot ${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const scanned = async (org: string, { producer }: WebTenant = tenant) => {
    const scan = await producer.register({
      // Slashes part attributes as blanks do, which an address does not have.
      org_url: `https://${org}.okta.com/?${markup.replaceAll(" ", "/")}`,
      client_id: hostileText(200),
      benchmark: hostileText(200),
      checks_total: 3,
    });
    const texts = { resource_id: text, resource_name: text, resource_type: text, detail: text };
    const notes = { expected: text, actual: text, cause: hostileText(64), to_pass: text, evaluation: text };
    const given = { ...texts, ...notes, read_from: text };
    const check = "systemlog_streaming_enabled";
    const findings = [
      buildFinding({ ...given, check, fingerprint: "waived" }),
      buildFinding({ ...given, fingerprint: "open", severity: "high" }),
      buildFinding({ ...given, check: hostile(200), fingerprint: hostile(200), status: "MANUAL" }),
    ];
    await scan.check(check, findings, { done: 1, total: 3 });
    return scan;
  };
  const failed = await scanned("one");
  await failed.publish("scan.error", { code: "x", detail: hostileText(400) });
  await failed.end("failed", { fail: 2, manual: 1 });
  const finished = await scanned("one");
  await finished.end("completed", { fail: 2, manual: 1 });
  const started = await scanned("two", other);
  const org = { org_url: "https://three.okta.com", client_id: hostileText(200) };
  const monitor = await tenant.producer.follow(org);
  await monitor.update({ log_status: "unreadable", error_code: "forbidden", error_detail: hostileText(200) });
  const change = { fingerprint: hostile(200), resource: { type: text, id: text, name: text }, actual: text };
  const actor = { id: text, type: text, login: text, name: text };
  const by = [anExplanation({ actor, event_type: hostileText(200), object: { type: text, name: text } })];
  await monitor.store([
    aChange({ ...change, from: null, to: { status: "PASS", reason: null }, cause: "start", explained_by: [] }),
  ]);
  await monitor.store([
    aChange({ ...change, explained_by: by }),
    aChange({ ...change, fingerprint: "other", check: hostile(200), explained_by: by }),
  ]);
  const waiver = { kind: "waiver", check: "systemlog_streaming_enabled", reason: text, expires: "never" };
  await call("POST", "/decisions", waiver);
  await call("POST", "/members", { sub: hostile(255), role: "viewer" });
  await call("POST", "/api-keys", { name: hostile(200), scopes: ["read"] });
  const { items } = (await call("GET", "/organizations?limit=200")) as {
    readonly items: readonly { readonly id: string; readonly org_url: string }[];
  };
  const organization = items.find(({ org_url }) => org_url === "https://one.okta.com")?.id;
  return { failed: failed.id, running: started.id, monitor: monitor.id, organization };
}
