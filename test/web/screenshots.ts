/**
 * Takes the pictures of the README and the docs: `node test/web/screenshots.ts [folder]`, by default into `docs/images`.
 * What is on them is the page as it is, while the scanner scans the practice org.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { createPracticeOrg } from "../../practice_org/create_practice_org.ts";
import { scanCommand } from "../../scanner/commands/scan_command.ts";
import { launchChromium } from "../support/chromium.ts";
import { startWebGateway, type WebTenant } from "../support/web_gateway.ts";
import { takeMonitorShots } from "./monitor_shots.ts";
import { openShot, phone, wide, type Shot } from "./shot.ts";

const liveShots: readonly Shot[] = [
  { name: "live_light", colorScheme: "light", viewport: wide },
  { name: "live_dark", colorScheme: "dark", viewport: wide },
  { name: "live_phone", colorScheme: "light", viewport: phone },
];
/** How an org that is being put right looks: the scans before this one. */
const history = [
  { pass: 1, fail: 26, manual: 2 },
  { pass: 3, fail: 24, manual: 2 },
  { pass: 3, fail: 24, manual: 2 },
  { pass: 5, fail: 22, manual: 2 },
  { pass: 6, fail: 21, manual: 2 },
];
const checksTotal = 29;
/** Slow enough to be caught in the middle by several pages. */
const latencyMs = 1200;

export async function takeScreenshots(folder: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "scanstream-screenshots-"));
  await mkdir(folder, { recursive: true });
  await using gateway = await startWebGateway();
  const tenant = await gateway.createTenant("Acme Corporation");
  gateway.setDemo(tenant);
  const org = await createPracticeOrg({ profile: { name: "typical" }, role: "super", latencyMs });
  const browser = await launchChromium();
  try {
    for (const counts of history) {
      const scan = await tenant.producer.register({ org_url: org.url, checks_total: checksTotal });
      await scan.update({ status: "completed", checks_done: checksTotal, ...counts });
    }
    const pages = await Promise.all(liveShots.map((shot) => openLive(browser, gateway.url, shot)));
    const scanned = scan(gateway.url, tenant, org);
    await Promise.all(pages.map((page) => page.locator('main .connection[data-state="live"]').waitFor()));
    await Promise.all(pages.map((page) => page.waitForFunction(isHalfDone, checksTotal / 2)));
    const [first] = pages;
    for (const [index, page] of pages.entries()) {
      await page.screenshot({ path: join(folder, `${liveShots[index]?.name ?? index}.png`) });
    }
    await scanned;
    for (const page of pages) await page.locator('main .connection[data-state="ended"]').waitFor();
    await first?.locator(".finding summary").first().click();
    await first?.locator(".fix").waitFor();
    await first?.screenshot({ path: join(folder, "ended_light.png") });
    await pages.at(-1)?.locator(".back").click();
    await pages.at(-1)?.screenshot({ path: join(folder, "list_phone.png") });
    for (const page of pages) await page.close();
    await takeMonitorShots(folder, { browser, gatewayUrl: gateway.url, apiKey: tenant.apiKey });
  } finally {
    await browser.close();
    await org.stop();
    await rm(directory, { recursive: true, force: true });
  }

  async function scan(url: string, of: WebTenant, { url: orgUrl, clientId, privateKeyPem }: typeof org): Promise<void> {
    const env = {
      IDP_ORG_URL: orgUrl,
      IDP_CLIENT_ID: clientId,
      IDP_PRIVATE_KEY: privateKeyPem,
      SCANSTREAM_URL: url,
      SCANSTREAM_API_KEY: of.apiKey,
    };
    const terminal = { isTTY: false, columns: 100, color: false, write: () => undefined };
    await scanCommand(
      { format: "json", failOn: "never", concurrency: "2", output: directory },
      {
        env,
        stdout: () => undefined,
        stdoutFailed: new AbortController().signal,
        colorStdout: false,
        terminal,
        ask: null,
        interrupted: new AbortController().signal,
        toolVersion: "0.0.0",
        now: () => new Date(),
      },
    );
  }
}

async function openLive(browser: Browser, url: string, shot: Shot): Promise<Page> {
  const page = await openShot(browser, url, shot);
  await page.locator(".organization-link").waitFor();
  return page;
}

function isHalfDone(half: number): boolean {
  return Number(document.querySelector(".figure")?.textContent) >= half;
}

if (import.meta.main) {
  await takeScreenshots(process.argv[2] ?? fileURLToPath(new URL("../../docs/images", import.meta.url)));
}
