import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { htmlFormat } from "../../../scanner/reports/html.ts";
import { launchChromium } from "../../support/chromium.ts";
import { temporaryFolder } from "../../support/command_line.ts";
import { aReport, everyVerdict, hostileText } from "../../support/report_builders.ts";

let browser: Browser;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let url: string;

beforeAll(async () => {
  [browser, folder] = await Promise.all([launchChromium(), temporaryFolder()]);
  const file = join(folder.path, "scan.html");
  const options = { color: false, width: 100, toolVersion: "1.2.3" };
  await writeFile(file, htmlFormat.render(aReport(everyVerdict()), options));
  url = pathToFileURL(file).href;
});

afterAll(async () => {
  await browser.close();
  await folder[Symbol.asyncDispose]();
});

test("asks for nothing outside itself, runs nothing, and shows a hostile name as text", async () => {
  const page = await browser.newPage();
  const requests: string[] = [];
  const problems: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => problems.push(message.text()));
  page.on("dialog", (dialog) => {
    problems.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url);
  expect(requests).toEqual([url]);
  expect(problems).toEqual([]);
  expect(await page.locator("script").count()).toBe(0);
  const shown = (await page.locator("article h4").allTextContents()).find((text) => text.includes("HYPERLINK"));
  expect(shown).toContain(hostileText.slice(0, hostileText.indexOf(" ]]>")));
});

test.each([
  ["a phone", 360],
  ["a desktop", 1280],
])("fits %s without scrolling sideways", async (_, width) => {
  const page = await browser.newPage({ viewport: { width, height: 800 } });
  await page.goto(url);
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow).toBe(0);
});

test("has every check, its links lead to their sections, and it prints", async () => {
  const page = await browser.newPage();
  await page.goto(url);
  expect(await page.locator("section").count()).toBe(29);
  for (const link of await page.locator("table a").all()) {
    const target = await link.getAttribute("href");
    expect(await page.locator(`section${target}`).count()).toBe(1);
  }
  expect((await page.pdf()).byteLength).toBeGreaterThan(10_000);
});
