import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { aChange, anExplanation, fail, pass } from "../support/change_builders.ts";
import { startOrg } from "../practice_org/start_org.ts";
import { startCommandOrg } from "../support/org_stage.ts";
import { ownFolder } from "../support/clean_up.ts";
import { runCommand } from "../support/command_line.ts";
import { buildFinding } from "../support/producers.ts";
import { member } from "../support/operator.ts";
import { expectAccessible, failingRule, openPage, openRule, openStage, tabTo } from "./watched_page.ts";

/** The five tasks of a person, each in as many clicks as it may take, and the page without a pointer. */

const { browser, gateway, demoTenant } = await openStage();

const orgUrl = "https://acme.okta.com";
const idle = "signon_global_session_idle_timeout_15min";

test("why a CAT I rule fails, and how to fix it: two clicks", async () => {
  const tenant = await demoTenant();
  const check = "application_admin_console_mfa_required";
  for (const [org_url, status] of [
    [orgUrl, "FAIL"],
    ["https://other.okta.com", "PASS"],
  ] as const) {
    const to_pass = 'Rule "Catch-all Rule": require two factors';
    const texts = { cause: "rul1", to_pass, rests_on: "Access Control 3.1, approved by Dana CISO", actual: "1FA" };
    const finding = buildFinding({ check, status, severity: "high", ...texts });
    await tenant.producer.scanned([finding], { org_url });
  }
  await using page = await openPage(browser, gateway.url);
  await page.locator(".organization.worst .organization-link").click();
  await page.locator(".plan-change", { hasText: "require two factors" }).filter({ hasText: "CAT I" }).waitFor();
  await page.locator(".rule-worst summary").click();
  await page.locator(".finding-values", { hasText: "at most 15 minutes → 1FA" }).waitFor();
  await page.locator(".finding").getByText('To pass: Rule "Catch-all Rule": require two factors').waitFor();
  await page.locator(".policy", { hasText: "Dana CISO" }).filter({ hasText: "1 rule rests on it" }).waitFor();
  await page.getByText("DISA's fix text").click();
  await page.locator(".fix-text", { hasText: /\w/ }).waitFor();
  // Back closes the rule and stays on the page. A typed filter adds no step to the history.
  await page.getByLabel("Filter the rules").fill("console");
  await page.goBack();
  await expect.poll(() => page.locator(".rule[open]").count()).toBe(0);
  await page.locator(".rule-worst").waitFor();
});

test("who changed what overnight, over six organizations: one click", async () => {
  const tenant = await demoTenant();
  for (const [index, name] of ["Ada", "Ben", "Cyd", "Dan", "Eve", "Fay"].entries()) {
    const monitor = await tenant.producer.follow({ org_url: `https://org${index}.okta.com` });
    const actor = { id: name, type: "User", login: null, name };
    await monitor.store([aChange({ from: pass, to: fail, explained_by: [anExplanation({ actor })] })]);
  }
  await using page = await openPage(browser, gateway.url);
  await page.getByText(/^6 changes since /).click();
  await expect.poll(() => page.locator(".news-all .news-line").count()).toBe(6);
  for (const [index, name] of ["Ada", "Ben", "Cyd", "Dan", "Eve", "Fay"].entries()) {
    await page.locator(".news-line", { hasText: new RegExp(`org${index}\\.okta\\.com.* ${name}`) }).waitFor();
  }
});

test("how long a rule has been passing, and the file to hand over: two clicks", async () => {
  const tenant = await demoTenant();
  await tenant.producer.scanned([buildFinding({ status: "PASS" })]);
  await tenant.producer.register({ org_url: "https://other.okta.com", checks_total: 1 });
  // Days are of UTC, where it is noon at two of the next day here.
  await using page = await openPage(browser, `${gateway.url}/#/`, { timezoneId: "Pacific/Kiritimati" });
  await page.locator(".organization-link", { hasText: "acme" }).click();
  const today = new Date().toLocaleDateString("en-US", { month: "short", day: "numeric", timeZone: "UTC" });
  const rule = page.locator(".rule", { hasText: `passing since ${today} (1 day)` });
  await rule.locator("summary").click();
  const title = rule.locator(".rule-inside .days title", { hasText: "400 days: 0 failing, 399 unknown" });
  await title.waitFor({ state: "attached" });
});

// `e2e/scan_with_gateway.test.ts` has what it is for the next scan, and `scanner/reports/every_format.test.ts` its formats.
test("a waiver with reason and end takes four clicks, and every format of the scan can be downloaded", async () => {
  const tenant = await demoTenant();
  const org = await startCommandOrg();
  const env = { ...org.env, SCANSTREAM_URL: gateway.url, SCANSTREAM_API_KEY: tenant.apiKey };
  const scanned = await runCommand(["scan", "--check", idle, "--quiet"], { cwd: await ownFolder(), env });
  expect(scanned.code).toBe(1);

  await using page = await openPage(browser, gateway.url);
  const rule = page.locator(failingRule);
  await rule.waitFor();
  // Every format of the menu is written from the stored report.
  const formats = page.locator("#download .button");
  expect(await formats.count()).toBe(12);
  expect(await page.locator("#download").textContent()).toMatch(/^Scan of /);
  for (const format of await formats.all()) {
    await page.getByRole("button", { name: "Download" }).click();
    const [file] = await Promise.all([page.waitForEvent("download"), format.click()]);
    expect((await readFile(await file.path(), "utf8")).length, file.suggestedFilename()).toBeGreaterThan(200);
  }
  await rule.locator("summary").click();
  await rule.getByRole("button", { name: "Waive…" }).first().click();
  // Two findings of the rule fail here; a waiver of one of them needs no choice.
  await page.getByLabel("Every finding of this check").check();
  await page.getByLabel("Reason").fill("Moves in January, see https://tickets.example/42");
  await page.getByRole("button", { name: "30 days" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Waive", exact: true }).click();
  await rule.getByRole("button", { name: "Renew…" }).first().click();
  await page.getByRole("dialog").getByRole("button", { name: "Waive", exact: true }).click();
  await rule.locator(".finding .badge", { hasText: "waived" }).first().waitFor();
  // It stays a failure in the count, and has its own filter.
  await page.getByText("1 FAIL", { exact: true }).waitFor();
  await page.getByRole("button", { name: "waived 1" }).click();
  await expect.poll(() => page.locator(".rule").count()).toBe(1);

  await page.getByRole("link", { name: "Decisions", exact: true }).click();
  const decision = page.locator(".decision", { hasText: "Moves in January" });
  expect(await decision.getByRole("link").getAttribute("href")).toBe("https://tickets.example/42");
  await decision.getByRole("button", { name: "Withdraw" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Withdraw" }).click();
  await page.getByRole("heading", { name: "No decisions" }).waitFor();
});

test("an attestation ends with the scan that contradicts it, and says so", async () => {
  const tenant = await demoTenant();
  const manual = buildFinding({ check: idle, status: "MANUAL" });
  await tenant.producer.scanned([manual]);
  await using page = await openPage(browser, gateway.url);
  const rule = await openRule(page, "V-273186");
  await rule.getByRole("button", { name: "Attest…" }).click();
  await page.getByLabel("What you found").selectOption("Not applicable here");
  await page.getByLabel("Never expires").check();
  await page.getByLabel("Reason").fill("No session ends here");
  await page.getByRole("dialog").getByRole("button", { name: "Attest", exact: true }).click();
  await rule.locator("summary", { hasText: "N/A" }).filter({ hasText: "attested" }).waitFor();
  const contradicting = await tenant.producer.scanned([{ ...manual, ...fail }]);
  await page.locator(failingRule, { hasText: "V-273186" }).waitFor();
  await page.getByRole("link", { name: "Decisions", exact: true }).click();
  await page.getByRole("heading", { name: "No decisions" }).waitFor();
  await page.getByRole("button", { name: "ended" }).click();
  await page.locator(".decision", { hasText: "contradicted by a scan" }).getByRole("link", { name: "scan" }).click();
  await expect.poll(() => page.url()).toBe(`${gateway.url}/#/scans/${contradicting.id}`);
});

test("read access for a colleague takes at most four clicks, and a key is shown once", async () => {
  const tenant = await demoTenant();
  await gateway.addUser(tenant.id, member, "admin");
  await using page = await openPage(browser, gateway.url);
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByLabel("Subject").fill("colleague@acme.test");
  // A member whom the gateway has added is listed, although its answer is lost.
  await page.route("**/api/v1/members", (route) => route.fetch().then(() => route.abort()), { times: 1 });
  await page.getByRole("button", { name: "Add member" }).click();
  await page.getByRole("alert").filter({ hasText: "No answer came from the gateway" }).waitFor();
  const list = page.getByRole("list", { name: "Members" });
  await list.getByLabel("Role of colleague@acme.test").selectOption("operator: also cancels scans, waives and attests");
  await list.getByRole("button", { name: "Save" }).click();
  await page.getByText("colleague@acme.test is operator now").waitFor();
  await page.getByRole("button", { name: "Remove colleague@acme.test" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("Removed colleague@acme.test").waitFor();
  // Nobody locks themselves out.
  await expect.poll(() => list.getByRole("combobox").count()).toBe(0);

  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByLabel("Name").fill("pipeline");
  await page.getByRole("button", { name: "Create key" }).click();
  const secret = await page.getByLabel("API key pipeline").inputValue();
  const session = await fetch(`${gateway.url}/api/v1/session`, { headers: { authorization: `Api-Key ${secret}` } });
  expect(await session.json()).toMatchObject({ kind: "api_key", name: "pipeline", scopes: ["read", "publish"] });
  await page.getByRole("button", { name: /^Revoke pipeline/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByText("The key pipeline was revoked").waitFor();
  expect(await page.content()).not.toContain(secret);
});

test("a viewer sees what is decided, and nothing to decide with; a first visitor gets a key and the command", async () => {
  const tenant = await demoTenant();
  await gateway.addUser(tenant.id, member, "admin");
  await using first = await openPage(browser, gateway.url);
  await first.getByRole("button", { name: "Make a key" }).click();
  await first.getByText(/SCANSTREAM_API_KEY=\w{20,} scanstream scan/).waitFor();
  const scan = await tenant.producer.register({ org_url: orgUrl, checks_total: 1 });
  // It turns live by itself.
  await first.getByRole("heading", { level: 1, name: "acme.okta.com" }).waitFor();
  await scan.store([buildFinding({ check: idle })]);
  await scan.end("completed", { pass: 0, fail: 1, manual: 0 });
  const rule = await openRule(first, failingRule);
  await rule.getByRole("button", { name: "Waive…" }).click();
  await first.getByLabel("Reason").fill("Half a reason");
  // A scan that completes leaves it there.
  await tenant.producer.scanned([buildFinding({ check: idle })], { org_url: orgUrl });
  await expect.poll(() => first.locator(".as-of option").count()).toBe(3);
  expect(await first.getByLabel("Reason").inputValue()).toBe("Half a reason");
  // A role that is taken while the page is open takes its actions with it, as soon as one of them is refused.
  await gateway.addUser(tenant.id, member, "viewer");
  await first.getByRole("dialog").getByRole("button", { name: "Waive", exact: true }).click();
  await first.getByText(/^Could not waive: /).waitFor();
  await first.keyboard.press("Escape");
  await expect.poll(() => rule.getByRole("button").allInnerTexts()).toEqual(["Copy link"]);
  await using page = await openPage(browser, first.url());
  for (const one of [first, page]) {
    await one.locator(".rule[open]").getByRole("button", { name: "Copy link" }).waitFor();
    expect(await one.getByRole("button", { name: /Waive|Attest/ }).count()).toBe(0);
    expect(await one.getByRole("link", { name: "Settings" }).count()).toBe(0);
  }
});

test("everything works with the keyboard; / searches, j and k go through the rows, not in a field or a dialog", async () => {
  const tenant = await demoTenant();
  for (const org_url of [orgUrl, "https://other.okta.com"]) {
    await tenant.producer.scanned([buildFinding({ check: idle })], { org_url });
  }
  await using page = await openPage(browser, gateway.url);
  await page.locator(".organization-link").first().waitFor();
  await tabTo(page, ".organization-link");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("main");
  await page.locator(failingRule).waitFor();
  await page.keyboard.press("j");
  await expect.poll(() => focusedRule(page)).toContain("V-273186");
  await page.keyboard.press("j");
  await page.keyboard.press("Alt+k");
  expect(await focusedRule(page)).not.toContain("V-273186");
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  await page.locator(".rule[open]").getByRole("button", { name: "Waive…" }).click();
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("/");
  expect(await page.evaluate(() => document.activeElement?.closest("dialog") !== null)).toBe(true);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("/");
  await page.keyboard.type("jk");
  await page.getByRole("status").filter({ hasText: "No rule matches." }).waitFor();
});

test("a change of the practice org is made with the keyboard alone, announced, and the focus goes to what undoes it", async () => {
  const org = await startOrg();
  await using page = await openPage(browser, org.url);
  await expectAccessible(page, "the admin page");
  const first = await page.locator("form h3").first().boundingBox();
  expect((first?.y ?? Number.NaN) + (first?.height ?? 0)).toBeLessThan(page.viewportSize()?.height ?? 0);
  await page.getByLabel("You are").selectOption("sam@practice.example");
  const button = page.getByRole("button", { name: "Turn off MFA for the Admin Console" });
  await button.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("status").filter({ hasText: "Done: Turn off MFA for the Admin Console" }).waitFor();
  await page.locator("#log li", { hasText: /policy\.rule\.update.*by Sam Security/ }).waitFor();
  await page.locator("#now-mfa-off").filter({ hasText: "a password alone" }).waitFor();
  expect(await button.isDisabled()).toBe(true);
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.textContent))
    .toBe("Turn on MFA for the Admin Console");
});

test("the focus goes to what is next when a decision or a key that had it vanishes; resources have their names", async () => {
  const tenant = await demoTenant();
  await gateway.addUser(tenant.id, member, "admin");
  const monitor = await tenant.producer.follow({ org_url: orgUrl });
  const names = ["Default Policy", "Legacy*"];
  // The first state of a monitor is not among the changes.
  const first = { from: null, cause: "start", explained_by: [] } as const;
  await monitor.store(
    names.map((name, id) =>
      aChange({ ...first, fingerprint: name, resource: { type: "policy", id: `00p${id}`, name } }),
    ),
  );
  await using page = await openPage(browser, gateway.url);
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
  const rule = await openRule(page, failingRule);
  // The event of a decision may come before the answer, and changes the button that opened the dialog.
  await page.route("**/api/v1/decisions", async (route) => {
    const response = await route.fetch();
    await rule.getByText("waived", { exact: true }).first().waitFor();
    await route.fulfill({ response });
  });
  for (const _ of names) {
    await rule.getByRole("button", { name: "Waive…" }).first().click();
    await page.getByLabel("Reason").fill("Moves");
    await page.getByRole("dialog").getByRole("button", { name: "Waive", exact: true }).click();
    await expect.poll(focused).toBe("Renew…");
  }
  await page.getByRole("link", { name: "Decisions", exact: true }).click();
  for (const name of names) await page.locator(".decision", { hasText: name }).waitFor();
  let left = names.length;
  // So does the event of its end, while the other buttons wait for the answer.
  await page.route("**/api/v1/decisions/*", async (route) => {
    const response = await route.fetch();
    await expect.poll(() => page.locator(".decision").count()).toBe(left);
    await route.fulfill({ response });
  });
  for (const next of ["Withdraw", "ended"]) {
    left -= 1;
    await page.getByRole("button", { name: "Withdraw" }).first().press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Withdraw" }).press("Enter");
    await expect.poll(() => page.locator(".decision").count()).toBe(left);
    await expect.poll(focused).toBe(next);
  }
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByLabel("Name").fill("pipeline");
  await page.getByRole("button", { name: "Create key" }).press("Enter");
  await page.getByRole("button", { name: "Done" }).press("Enter");
  await expect.poll(focused).toBe("Revoke");
});

function focusedRule(page: Page): Promise<string> {
  return page.evaluate(() => document.activeElement?.closest(".rule")?.textContent ?? "");
}
