import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { aReport } from "../support/report_builders.ts";
import type { WebTenant } from "../support/web_gateway.ts";
import { openPage, openStage } from "./watched_page.ts";

const { browser, gateway, demoTenant } = await openStage();

async function endedScan({ producer, apiKey }: WebTenant, orgUrl: string) {
  const scan = await producer.register({ org_url: orgUrl, checks_total: 1 });
  await scan.end("completed", { pass: 0, fail: 1, manual: 0 });
  const report = aReport();
  const stored = await fetch(`${gateway.url}/api/v1/scans/${scan.id}/report`, {
    method: "PUT",
    headers: { authorization: `Api-Key ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ ...report, scan: { ...report.scan, id: scan.id } }),
  });
  expect(stored.status).toBe(201);
  return scan;
}

test("the report of a scan is downloaded in the formats that people ask for, loaded when the first one is", async () => {
  const acme = await demoTenant();
  const scan = await endedScan(acme, "https://acme.okta.com");
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${scan.id}`);
  const { page, requestUrls } = watched;
  await watched.untilConnection("ended");
  const hasLoaded = () => requestUrls.some((url) => /\/assets\/reports-/.test(url));
  expect(hasLoaded()).toBe(false);
  const texts: Record<string, string> = {};
  for (const name of ["HTML", "CKLB", "CSV", "JSON"]) {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("group", { name: "Report" }).getByRole("button", { name, exact: true }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(new RegExp(`^scan-${scan.id}\\.[a-z]+$`));
    texts[name] = await readFile(await download.path(), "utf8");
  }
  expect(hasLoaded()).toBe(true);
  expect(texts["HTML"]).toMatch(/^<!doctype html>/i);
  expect(texts["HTML"]).toContain("V-273186");
  expect(JSON.parse(texts["CKLB"] ?? "")).toMatchObject({ cklb_version: "1.0" });
  expect(texts["CSV"]).toContain("V-273186");
  expect(JSON.parse(texts["JSON"] ?? "")).toMatchObject({ schema: "scanstream.report/1", scan: { id: scan.id } });
});

test("without a stored report the page says so", async () => {
  const { producer } = await demoTenant();
  const scan = await producer.register({ org_url: "https://acme.okta.com", checks_total: 0 });
  await scan.end("completed", { pass: 0, fail: 0, manual: 0 });
  await using watched = await openPage(browser, `${gateway.url}/#/scans/${scan.id}`);
  await watched.untilConnection("ended");
  await watched.page.getByRole("button", { name: "CSV" }).click();
  await watched.page.getByRole("alert").getByText("No report was uploaded for this scan").waitFor();
});

test("a scan is deleted after a second question, and leaves every page at once", async () => {
  const acme = await demoTenant();
  const scan = await endedScan(acme, "https://gone.okta.com");
  await endedScan(acme, "https://kept.okta.com");
  const address = `${gateway.url}/#/scans/${scan.id}`;
  await using deleting = await openPage(browser, address);
  await using looking = await openPage(browser, address);
  await using listing = await openPage(browser, gateway.url);
  await listing.page.locator(".scan-link", { hasText: "gone.okta.com" }).waitFor();
  for (const { page } of [deleting, looking]) await page.getByRole("heading", { name: "gone.okta.com" }).waitFor();
  const { page } = deleting;
  await page.getByRole("button", { name: "Delete scan" }).click();
  await page.getByRole("button", { name: "Keep" }).click();
  await page.getByRole("button", { name: "Delete scan" }).click();
  await page.getByRole("button", { name: "Delete for good" }).click();
  for (const watched of [deleting, listing]) {
    await watched.page.locator(".scan-link", { hasText: "gone.okta.com" }).waitFor({ state: "detached" });
    await watched.page.locator(".scan-link", { hasText: "kept.okta.com" }).waitFor();
  }
  await looking.page.getByRole("heading", { name: "This scan was deleted" }).waitFor();
  expect(new URL(page.url()).hash).toBe("#/");
});
