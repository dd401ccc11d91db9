import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { startCommandOrg } from "../support/command_gateway.ts";
import { runCommand, temporaryFolder } from "../support/command_line.ts";
import { buildFinding } from "../support/scan_producer.ts";
import type { WebTenant } from "../support/web_gateway.ts";
import { openPage, openStage } from "./watched_page.ts";

const { browser, gateway, demoTenant } = await openStage();
const check = "signon_global_session_idle_timeout_15min";
const orgUrl = "https://acme.okta.com";
const author = "member@acme.test";

async function decide(tenant: WebTenant, json: object): Promise<void> {
  const response = await fetch(`${gateway.url}/api/v1/decisions`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant.accessToken}`, "content-type": "application/json" },
    body: JSON.stringify({ org_url: orgUrl, expires: "never", ...json }),
  });
  expect(response.status, await response.text()).toBe(201);
}

/** A completed scan with these findings. */
async function scanned(tenant: WebTenant, findings: readonly ReturnType<typeof buildFinding>[]) {
  const scan = await tenant.producer.register({ org_url: orgUrl, checks_total: 1 });
  await scan.store(findings);
  await scan.end("completed", { pass: 0, fail: 1, manual: 0 });
  return scan;
}

async function openDialog(page: Page, button: "Waive…" | "Attest…"): Promise<void> {
  await page.locator(".finding summary").first().click();
  await page.getByRole("button", { name: button }).click();
  await page.getByRole("dialog").waitFor();
}

test("what is waived on the page is waived in every format of the next scan, which exits with 0", async () => {
  const tenant = await demoTenant();
  await using folder = await temporaryFolder();
  await using org = await startCommandOrg(folder.path);
  const env = { ...org.env, SCANSTREAM_URL: gateway.url, SCANSTREAM_API_KEY: tenant.apiKey };
  const scan = (...args: readonly string[]) =>
    runCommand(["scan", "--check", check, "--quiet", ...args], { cwd: folder.path, env });
  expect((await scan()).code).toBe(1);

  await using watched = await openPage(browser, gateway.url);
  const { page } = watched;
  await using other = await openPage(browser, gateway.url);
  for (const one of [page, other.page]) {
    await one.locator(".scan-link").click();
    await one.locator(".finding").first().waitFor();
  }
  await openDialog(page, "Waive…");
  await page.getByLabel("Every finding of this check").check();
  await page.getByLabel("Reason").fill("Moves in January");
  await page.getByRole("button", { name: "30 days" }).click();
  const until = await page.getByLabel("Until the end of").inputValue();
  await page.getByRole("dialog").getByRole("button", { name: "Waive", exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const badge = `Waived until ${until}`;
  await page.getByText(badge, { exact: true }).first().waitFor();
  await page.getByText(`Waived by ${author} until ${until}: Moves in January`).waitFor();
  // Another page of the tenant learns it from its stream.
  await other.page.getByText(badge, { exact: true }).first().waitFor();

  const again = await scan("--decisions-from-gateway", "--format", "all", "--output", "reports");
  expect(again.stderr).toBe("");
  expect(again.code).toBe(0);
  const reports = join(folder.path, "reports");
  // A plan of action lists what no waiver covers.
  const files = (await readdir(reports)).filter((name) => !name.includes("poam"));
  expect(files.length).toBeGreaterThan(10);
  for (const file of files) {
    const text = await readFile(join(reports, file), "utf8");
    for (const part of ["Moves in January", author, "gateway", until]) expect(text, file).toContain(part);
  }

  await page.getByRole("link", { name: "Decisions", exact: true }).click();
  await page.getByText("Moves in January").waitFor();
  await page.getByRole("button", { name: "Withdraw" }).click();
  await page.getByRole("button", { name: "Confirm withdrawal" }).click();
  await page.getByRole("heading", { name: "No decisions" }).waitFor();
  await other.page.getByText(badge, { exact: true }).first().waitFor({ state: "detached" });
  expect((await scan("--decisions-from-gateway")).code).toBe(1);
});

test("an attestation from the page ends with the scan that contradicts it, and says so", async () => {
  const tenant = await demoTenant();
  const manual = buildFinding({ check, status: "MANUAL" });
  const { id } = await scanned(tenant, [manual]);
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${id}`);
  const { page } = watched;
  await openDialog(page, "Attest…");
  await page.getByLabel("What you found").selectOption("Not applicable here");
  await page.getByLabel("Never expires").check();
  await page.getByLabel("Reason").fill("No session ends here");
  await page.getByRole("dialog").getByRole("button", { name: "Attest", exact: true }).click();
  await page.locator(".finding").getByText("Attested not applicable, never expires", { exact: true }).waitFor();
  await page.locator(".checks").getByText(`Attested not applicable by ${author}`).waitFor();

  const contradicting = await scanned(tenant, [{ ...manual, status: "FAIL", reason: null }]);
  await page
    .locator(".finding")
    .getByText("Attested not applicable, never expires", { exact: true })
    .waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Decisions", exact: true }).click();
  await page.getByRole("heading", { name: "No decisions" }).waitFor();
  await page.getByLabel("State").selectOption("Ended");
  await page.getByText("Contradicted by a scan").waitFor();
  await page.getByRole("link", { name: "Scan that contradicts it" }).click();
  await expect.poll(() => page.url()).toBe(`${gateway.url}/#/scans/${contradicting.id}`);
});

test("a waiver that nothing open needs any more is marked, one that is needed or unknown is not", async () => {
  const tenant = await demoTenant();
  const open = buildFinding({ check, resource_id: "00p[1]*", resource_name: "Open" });
  const passed = buildFinding({ check, resource_id: "00p2", resource_name: "Passed", status: "PASS" });
  for (const resource of ["00p[1]\\*", "00p2", "Gone"]) {
    await decide(tenant, { kind: "waiver", check, resource, reason: `About ${resource}` });
  }
  await decide(tenant, { kind: "waiver", check: "not_evaluated", reason: "About another check" });
  const { id } = await scanned(tenant, [open, passed]);
  await using watched = await openPage(browser, `${gateway.url}/#/decisions`);
  const { page } = watched;
  const marked = page.locator(".decision", { hasText: "No longer needed" }).locator(".decision-reason");
  await expect.poll(() => marked.allTextContents()).toEqual(["About Gone", "About 00p2"]);
  await page.goto(`${gateway.url}/#/scans/${id}`);
  await expect
    .poll(() => page.locator(".finding", { hasText: "Waived" }).locator(".finding-name").allTextContents())
    .toEqual(["Open"]);
});

test("one resource is waived by its id, whatever characters that has", async () => {
  const tenant = await demoTenant();
  const findings = ["a*", "ab"].map((id) => buildFinding({ check, resource_id: id, resource_name: id }));
  const { id } = await scanned(tenant, findings);
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${id}`);
  const { page } = watched;
  await openDialog(page, "Waive…");
  await page.getByLabel("Reason").fill("This one alone");
  await page.getByRole("dialog").getByRole("button", { name: "Waive", exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.locator(".finding .badge").waitFor();
  expect(await page.locator(".finding", { hasText: "Waived" }).locator(".finding-name").allTextContents()).toEqual([
    "a*",
  ]);
});

test("where the decisions cannot be read, the page says so, and offers none until they are", async () => {
  const tenant = await demoTenant();
  await decide(tenant, { kind: "waiver", check, reason: "Moves in January" });
  const { id } = await scanned(tenant, [buildFinding({ check })]);
  let isAway = true;
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${id}`, {
    beforeOpen: async (page) => {
      await page.route("**/api/v1/decisions?*", (route) =>
        isAway ? route.fulfill({ status: 503 }) : route.continue(),
      );
    },
  });
  const { page } = watched;
  await page.getByText("Decisions could not be read").waitFor();
  await page.locator(".finding summary").click();
  await page.getByRole("button", { name: "Copy link" }).waitFor();
  expect(await page.getByRole("button", { name: "Waive…" }).count()).toBe(0);
  isAway = false;
  await page.locator(".findings").getByRole("button", { name: "Try again" }).click();
  await page.locator(".finding").getByText("Waived, never expires", { exact: true }).waitFor();
  await page.getByText("Decisions could not be read").waitFor({ state: "detached" });
});

test("a viewer sees what is decided, and no button", async () => {
  const tenant = await demoTenant();
  await decide(tenant, { kind: "waiver", check, reason: "Moves in January" });
  await gateway.addMember(tenant, author, "viewer");
  const { id } = await scanned(tenant, [buildFinding({ check })]);
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${id}`);
  const { page } = watched;
  await page.locator(".finding").getByText("Waived, never expires", { exact: true }).waitFor();
  await page.locator(".finding summary").click();
  await page.getByText("Moves in January").waitFor();
  expect(await page.getByRole("button", { name: /Waive|Attest/ }).count()).toBe(0);
  await page.getByRole("link", { name: "Decisions", exact: true }).click();
  await page.getByText("Moves in January").waitFor();
  expect(await page.getByRole("button", { name: "Withdraw" }).count()).toBe(0);
});
