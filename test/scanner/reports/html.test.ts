import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import axe from "axe-core";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { htmlFormat } from "../../../scanner/reports/html.ts";
import { launchChromium } from "../../support/chromium.ts";
import { temporaryFolder } from "../../support/command_line.ts";
import { aCheckResult, aFinding, aReport, everyVerdict, hostileText } from "../../support/report_builders.ts";

let browser: Browser;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let url: string;

const options = { color: false, width: 100, toolVersion: "1.2.3" };
/** One failing check over many resources, beside every verdict. */
const manyApps = Array.from({ length: 24 }, (_, index) => {
  const name = `App number ${index}`;
  const finding = { resource: { type: "app", id: `0oa${index}`, name }, expected: "network zones", actual: "none set" };
  const status = index % 6 === 0 ? "PASS" : "FAIL";
  return aFinding({ ...finding, status, detail: `App "${name}": expected network zones, found none set: see rule 1.` });
});
const report = aReport([...everyVerdict(), aCheckResult({ vuln_id: "V-1", findings: manyApps })]);

beforeAll(async () => {
  [browser, folder] = await Promise.all([launchChromium(), temporaryFolder()]);
  const file = join(folder.path, "scan.html");
  await writeFile(file, htmlFormat.render(report, options));
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

test("shows what a check expects once, and what was found once for each resource", async () => {
  const page = await browser.newPage();
  await page.goto(url);
  const section = page.locator("section#V-1");
  const text = (await section.innerText()).replaceAll(/\s+/g, " ");
  expect(text.match(/network zones/g)).toHaveLength(1);
  expect(text.match(/none set: see rule 1/g)).toHaveLength(20);
  expect(text.match(/App number 1 /g)).toHaveLength(1);
  expect(text).toContain("4 of 24 findings are not open");
});

test("folds what passes, to be opened by a click", async () => {
  const page = await browser.newPage();
  await page.goto(url);
  const section = page.locator("section.pass").first();
  await expect(section.locator("article").first().isVisible()).resolves.toBe(false);
  await section.locator("summary").click();
  await expect(section.locator("article").first().isVisible()).resolves.toBe(true);
  expect(await page.locator("section.pass").count()).toBe(report.summary.pass);
  expect(await page.locator("section.not_applicable.folded").count()).toBe(report.summary.not_applicable);
  expect(await page.locator("section.folded > .mark").count()).toBe(report.summary.attested);
});

test.each([390, 1280])("no verdict breaks inside its word at %i pixels", async (width) => {
  const page = await browser.newPage({ viewport: { width, height: 800 } });
  await page.goto(url);
  const heights = await page
    .locator(".badge")
    .evaluateAll((badges) =>
      badges.map((badge) => badge.getBoundingClientRect().height).filter((height) => height > 0),
    );
  expect(heights.length).toBeGreaterThan(60);
  expect(Math.max(...heights)).toBeLessThan(1.5 * Math.min(...heights));
});

test("is a page of reasonable length on a phone and on paper", async () => {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  await page.goto(url);
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(13_000);
  expect(pagesOf(await page.pdf({ format: "A4" }))).toBeLessThan(10);
});

test("prints no heading apart from its section, and no finding in two parts", async () => {
  const page = await browser.newPage();
  await page.goto(url);
  await page.emulateMedia({ media: "print" });
  const breaks = (selector: string) =>
    page
      .locator(selector)
      .evaluateAll((parts) => [
        ...new Set(parts.map((part) => `${getComputedStyle(part).breakAfter}, ${getComputedStyle(part).breakInside}`)),
      ]);
  for (const part of ["section h3", ".ids", ".expected"]) expect(await breaks(part)).toEqual(["avoid, avoid"]);
  for (const part of ["h1", "h2", "h4"]) expect(await breaks(part)).toEqual(["avoid, auto"]);
  for (const part of ["article", "tr", "footer"]) expect(await breaks(part)).toEqual(["auto, avoid"]);
});

test.each([
  ["light", 1280],
  ["dark", 390],
] as const)("axe finds nothing wrong: %s, %i pixels wide, everything opened", async (colorScheme, width) => {
  // axe stands in a script, which the page's policy refuses.
  const context = await browser.newContext({ bypassCSP: true, colorScheme, viewport: { width, height: 844 } });
  const page = await context.newPage();
  await page.goto(url);
  await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
  await page.addScriptTag({ content: axe.source });
  const { violations } = await page.evaluate<axe.AxeResults>("axe.run()");
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`)).toEqual([]);
  await context.close();
});

function pagesOf(pdf: Buffer): number {
  return pdf.toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0;
}
