import { expect, test } from "vitest";
import { aChange } from "../support/change_builders.ts";
import { buildFinding } from "../support/producers.ts";
import { failingRule, openPage, openRule, openStage } from "./watched_page.ts";

/** Faults of a gateway, of a proxy before it, of a broker or a browser, and large sizes. */

const { browser, gateway, demoTenant } = await openStage();

const orgUrl = "https://acme.okta.com";

test("a gateway that restarts is told, what is known stays, and what happened meanwhile is read", async () => {
  const tenant = await demoTenant();
  const scan = await tenant.producer.register({ org_url: orgUrl, checks_total: 2 });
  await scan.check("first_check", [buildFinding({ check: "first_check" })], { done: 1, total: 2 });
  await using page = await openPage(browser, gateway.url);
  await page.untilConnection("live");
  await page.locator(".rule", { hasText: "First check" }).waitFor();
  await gateway.stop();
  await page.untilConnection("reconnecting");
  await page.locator(".connection", { hasText: /^not live.*next try in/ }).waitFor();
  await expect.poll(() => page.title()).toMatch(/^⚠ not live · /);
  expect(await page.locator(".rule", { hasText: "First check" }).isVisible()).toBe(true);
  await gateway.start();
  await scan.store([buildFinding({ check: "second_check" })]);
  await scan.end("failed", { pass: 0, fail: 2, manual: 0 });
  await page.untilConnection("live");
  await page.locator(".rule", { hasText: "Second check" }).waitFor();
  await page.locator(".running").waitFor({ state: "detached" });
});

test("a browser that is too old is told which ones are not, instead of a gateway that cannot be reached", async () => {
  await using page = await openPage(browser, gateway.url, {
    async beforeOpen(page) {
      await page.addInitScript(() => {
        CSS.supports = () => false;
        Reflect.deleteProperty(AbortSignal, "any");
        Reflect.deleteProperty(Map, "groupBy");
        Reflect.deleteProperty(Promise, "withResolvers");
      });
    },
  });
  await page.getByText("This browser is too old for this page").waitFor();
});

test("a refused stream says why and when it is tried again, and 'Try now' ends the pause", async () => {
  const tenant = await demoTenant();
  await tenant.producer.register({ org_url: orgUrl, checks_total: 1 });
  let isFull = true;
  await using page = await openPage(browser, gateway.url, {
    beforeOpen: async (page) => {
      await page.route(
        (url) => url.pathname.endsWith("/event-stream"),
        (route) => {
          if (!isFull) return route.fallback();
          const detail = "This tenant has as many open streams as it may";
          const body = JSON.stringify({ type: "about:blank", title: "Too many", status: 429, detail });
          const headers = { "retry-after": "600" };
          return route.fulfill({ status: 429, contentType: "application/problem+json", headers, body });
        },
      );
    },
  });
  await page.locator(".connection", { hasText: "as many open streams as it may · next try in" }).waitFor();
  await page.getByRole("heading", { level: 1, name: "acme.okta.com" }).waitFor();
  isFull = false;
  await page.getByRole("button", { name: "Try now" }).click();
  await page.untilConnection("live");
});

test("findings and a stream that a proxy's error page hides are said to be missing, and read again", async () => {
  const tenant = await demoTenant();
  await tenant.producer.scanned([buildFinding()]);
  let isBroken = true;
  await using page = await openPage(browser, gateway.url, {
    beforeOpen: async (page) => {
      const [contentType, body] = ["text/html", "<h1>No backend</h1>"];
      await page.route("**/findings?*", (route) =>
        isBroken ? route.fulfill({ status: 502, contentType, body }) : route.fallback(),
      );
      await page.route("**/api/v1/event-stream", (route) =>
        isBroken ? route.fulfill({ status: 404, contentType, body }) : route.fallback(),
      );
    },
  });
  await page.getByRole("alert").filter({ hasText: "answered with status 502" }).waitFor();
  await page.getByText("The findings could not be read yet.").waitFor();
  expect(await page.locator("main").innerText()).not.toMatch(/\d FAIL|not evaluated/i);
  expect(await page.title()).not.toContain("FAIL");
  await page.untilConnection("failed");
  isBroken = false;
  await page.getByText("1 FAIL", { exact: true }).waitFor();
  await page.untilConnection("live");
});

test("the first row needs one request; a tab in the background opens no stream, gives its own back, keeps its title true, and catches up when it is shown", async () => {
  const tenant = await demoTenant();
  const monitor = await tenant.producer.follow({ org_url: orgUrl });
  await tenant.producer.register({ org_url: orgUrl, checks_total: 1 });
  const other = await tenant.producer.register({ org_url: "https://other.okta.com", checks_total: 1 });
  await using page = await openPage(browser, gateway.url, {
    beforeOpen: async (page) => {
      await page.clock.install();
      // Headless, every tab is visible.
      await page.addInitScript(() => {
        Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
      });
    },
  });
  const { requestUrls } = page;
  await page.locator(".organization").first().waitFor();
  expect(requestUrls.find((url) => url.includes("/api/v1/"))).toContain("/api/v1/overview");
  const show = (shown: string) =>
    page.evaluate((value) => {
      Object.defineProperty(document, "visibilityState", { value, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, shown);
  await page.evaluate((id) => void (location.hash = `#/scans/${id}`), other.id);
  await page.locator(".running").waitFor();
  expect(requestUrls.join("\n")).not.toContain("/event-stream");
  await show("visible");
  // That of the tenant, and that of the scan.
  await expect.poll(() => gateway.openStreams()).toBe(2);
  const seen = page.waitForRequest(/\/api\/v1\/seen$/);
  await show("hidden");
  await seen;
  await page.clock.fastForward(35_000);
  await expect.poll(() => gateway.openStreams()).toBe(0);
  await page.goBack();
  await tenant.producer.register({ org_url: "https://hidden.okta.com", checks_total: 1 });
  const minuteLater = () => page.clock.fastForward(60_000);
  await expect.poll(() => minuteLater().then(() => page.getByText("hidden.okta.com").count())).toBe(1);
  await page.clock.fastForward(70_000);
  expect(await page.title()).not.toContain("needs you");
  await monitor.store([aChange()]);
  await expect.poll(() => minuteLater().then(() => page.title())).toContain("1 needs you");
  await tenant.producer.register({ org_url: "https://unseen.okta.com", checks_total: 1 });
  await show("visible");
  await page.locator(".organization", { hasText: "unseen.okta.com" }).waitFor();
});

test("scans, decisions and failures of CAT I count, however many there are", async () => {
  const tenant = await demoTenant();
  const check = "application_admin_console_mfa_required";
  for (let n = 0; n < 51; n += 1) {
    const failure = buildFinding({ check, severity: "high", resource_id: n === 50 ? "0oa500" : "0oa1" });
    await tenant.producer.scanned([failure], { org_url: `https://org${n}.okta.com` });
  }
  for (let n = 1; n < 202; n += 1) {
    const json = { kind: "waiver", check, resource: `0oa${n}`, reason: "Agreed", expires: "never" };
    const decided = await gateway.request("/api/v1/decisions", { as: `Bearer ${tenant.token}`, json });
    expect(decided.status).toBe(201);
  }
  await using page = await openPage(browser, gateway.url);
  await page.getByText("1 of 51 needs you").waitFor();
  await expect.poll(() => page.title()).toMatch(/^⚠ 1 needs you · /);
  const icon = page.locator('link[rel="icon"]');
  expect(await icon.evaluate((link) => link.getAttribute("href") === link.dataset["fail"])).toBe(true);
  await page.locator(".organization-link", { hasText: "org0." }).click();
  await page.getByRole("heading", { level: 1, name: "org0.okta.com" }).waitFor();
  await page.getByText("(1 waived)").waitFor();
  await expect.poll(() => page.locator(".as-of option").count()).toBe(2);
});

test("10,000 findings of one scan are counted and filtered, and are drawn a part at a time", async () => {
  const tenant = await demoTenant();
  const findings = Array.from({ length: 10_000 }, (_finding, index) =>
    buildFinding({
      check: `check_${index % 20}`,
      resource_name: `resource n${index}n`,
      status: index % 20 === 3 ? "FAIL" : "PASS",
    }),
  );
  await tenant.producer.scanned(findings);
  await using page = await openPage(browser, gateway.url);
  await page.locator(".rule", { hasText: "500 of 500" }).first().waitFor();
  await page.getByText("1 FAIL", { exact: true }).waitFor();
  await page.getByText("19 PASS", { exact: true }).waitFor();
  await page.getByLabel("Filter the rules").fill("n9983n");
  await expect.poll(() => page.locator(".rule").count()).toBe(1);
  await openRule(page, failingRule);
  await expect.poll(() => page.locator(".finding").count()).toBe(50);
  await page.getByRole("button", { name: /^Show more \(450 not shown yet\)/ }).click();
  await expect.poll(() => page.locator(".finding").count()).toBe(150);
});
