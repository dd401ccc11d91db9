/**
 * Takes the pictures of the README and the docs: `node test/web/screenshots.ts [folder]`, by default into `docs/images`.
 * What is on them is the page as it is, with a scan whose checks are the catalog's.
 */
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { buildPage } from "../../gateway/web/build.ts";
import type { Severity, Status } from "../../shared/report.ts";
import { launchChromium } from "../support/chromium.ts";
import { createGatewayState, startContractGateway } from "../support/contract_gateway.ts";
import { buildFinding, createScanProducer, type ProducedScan, type ScanProducer } from "../support/scan_producer.ts";

interface Shot {
  readonly name: string;
  readonly colorScheme: "light" | "dark";
  readonly width: number;
  readonly height: number;
  readonly prepare?: (page: Page) => Promise<void>;
}

const wide = { width: 1440, height: 960 };
const phone = { width: 390, height: 844 };

export async function takeScreenshots(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const webFolder = await mkdtemp(join(tmpdir(), "scanstream-web-"));
  await buildPage(webFolder);
  const state = createGatewayState(["Acme Corporation"]);
  const [tenant] = state.tenants;
  if (tenant === undefined) throw new Error("Cannot take screenshots: the gateway has no tenant");
  const gateway = await startContractGateway({ state, webFolder, demo: tenant });
  const browser = await launchChromium();
  try {
    const producer = createScanProducer(gateway.url, tenant.apiKey);
    for (const counts of history) await produceEnded(producer, counts);
    age(state.scans);
    const running = await producer.register({
      org_url: "https://acme.okta.com",
      client_id: "0oa8x2kq1vPractice697",
      checks_total: rules.length,
    });
    await produceChecks(running, 17);
    const openFirst = async (page: Page) => {
      await page.locator(".finding summary").first().click();
      await page.locator(".fix").first().waitFor();
    };
    await shoot(browser, gateway.url, folder, {
      name: "live_light",
      colorScheme: "light",
      ...wide,
      prepare: openFirst,
    });
    await shoot(browser, gateway.url, folder, { name: "live_dark", colorScheme: "dark", ...wide, prepare: openFirst });
    await shoot(browser, gateway.url, folder, { name: "live_phone", colorScheme: "light", ...phone });
    await produceChecks(running, rules.length, 17);
    await running.end("completed", { pass: 15, fail: 10, manual: 4 });
    await shoot(browser, gateway.url, folder, { name: "ended_light", colorScheme: "light", ...wide });
    await shoot(browser, gateway.url, folder, {
      name: "list_phone",
      colorScheme: "dark",
      ...phone,
      prepare: (page) => page.locator(".back").click(),
    });
  } finally {
    await browser.close();
    await gateway.close();
    await rm(webFolder, { recursive: true, force: true });
  }
}

async function shoot(browser: Browser, url: string, folder: string, shot: Shot): Promise<void> {
  const page = await browser.newPage({
    viewport: { width: shot.width, height: shot.height },
    colorScheme: shot.colorScheme,
    deviceScaleFactor: 2,
    reducedMotion: "reduce",
    locale: "en-US",
  });
  await page.goto(url);
  await page.locator(".finding").first().waitFor();
  await page.locator('[data-state="live"], [data-state="ended"]').waitFor();
  await shot.prepare?.(page);
  await page.screenshot({ path: join(folder, `${shot.name}.png`) });
  await page.close();
}

const rules = await readRules();
const history = [
  { pass: 9, fail: 16, manual: 4 },
  { pass: 10, fail: 15, manual: 4 },
  { pass: 10, fail: 15, manual: 4 },
  { pass: 12, fail: 13, manual: 4 },
  { pass: 12, fail: 13, manual: 4 },
  { pass: 14, fail: 12, manual: 3 },
  { pass: 13, fail: 12, manual: 4 },
];

async function produceEnded(
  producer: ScanProducer,
  counts: { pass: number; fail: number; manual: number },
): Promise<void> {
  const scan = await producer.register({ org_url: "https://acme.okta.com", checks_total: rules.length });
  await scan.update({ status: "completed", checks_done: rules.length, ...counts });
}

/** Scans of one minute look like a test; these look like weeks. */
function age(scans: Map<string, Record<string, unknown>>): void {
  const weekMs = 7 * 86_400_000;
  for (const [index, scan] of [...scans.values()].entries()) {
    const startedAtMs = Date.now() - (scans.size - index) * weekMs;
    scan["created_at"] = scan["started_at"] = new Date(startedAtMs).toISOString();
    scan["ended_at"] = new Date(startedAtMs + 41_000).toISOString();
  }
}

const resources = [
  "Default Policy",
  "Contractors",
  "Okta Admin Console",
  "Default Password Policy",
  "terraform-ci",
  "Corporate VPN",
];

async function produceChecks(scan: ProducedScan, until: number, from = 0): Promise<void> {
  for (const [index, rule] of rules.slice(from, until).entries()) {
    const place = from + index;
    const status: Status = place % 7 === 4 ? "MANUAL" : place % 3 === 0 ? "FAIL" : "PASS";
    const findings = Array.from({ length: 1 + (place % 3) }, (_finding, number) =>
      buildFinding({
        check: rule.check,
        severity: rule.severity,
        status: number === 0 ? status : "PASS",
        resource_name: resources[(place + number) % resources.length] ?? "Default Policy",
        ...texts(number === 0 ? status : "PASS", rule.check),
      }),
    );
    await scan.check(rule.check, findings, { done: place + 1, total: rules.length });
  }
}

function texts(status: Status, check: string): { expected: string; actual: string; detail: string } {
  const what = check.replaceAll("_", " ");
  if (status === "PASS")
    return { expected: "as the rule asks", actual: "as the rule asks", detail: `Is set as the rule on ${what} asks.` };
  if (status === "MANUAL")
    return {
      expected: "a decision by a person",
      actual: "method chain with a custom factor",
      detail: `Uses a custom factor; whether it satisfies ${what} needs a person.`,
    };
  return {
    expected: "at most 15 minutes",
    actual: "120 minutes",
    detail: `Allows 120 minutes where the rule on ${what} allows at most 15.`,
  };
}

async function readRules(): Promise<readonly { readonly check: string; readonly severity: Severity }[]> {
  const path = fileURLToPath(new URL("../../scanner/catalog/okta_idaas_stig_v1r2.json", import.meta.url));
  return (JSON.parse(await readFile(path, "utf8")) as { rules: { check: string; severity: Severity }[] }).rules;
}

if (import.meta.main)
  await takeScreenshots(process.argv[2] ?? fileURLToPath(new URL("../../docs/images", import.meta.url)));
