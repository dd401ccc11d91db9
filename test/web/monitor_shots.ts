import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { createPracticeOrg } from "../../practice_org/create_practice_org.ts";
import { followCommand } from "../../scanner/commands/follow_command.ts";
import { openShot, phone, wide, type Shot } from "./shot.ts";

const shots: readonly Shot[] = [
  { name: "monitor_light", colorScheme: "light", viewport: wide },
  { name: "monitor_dark", colorScheme: "dark", viewport: wide },
  { name: "monitor_phone", colorScheme: "light", viewport: phone },
];
const changes = [
  ["fips-off", "dana@practice.example"],
  ["session-idle-long", "sam@practice.example"],
  ["zone-widened", "dana@practice.example"],
  ["fips-on", "alex@practice.example"],
] as const;
/** The log has no event of it: a full scan finds it. */
const unexplained = "log-stream-off";
const newest = ["mfa-off", "sam@practice.example"] as const;

/** An organization that is followed, while people change it. */
export async function takeMonitorShots(
  folder: string,
  { browser, gatewayUrl, apiKey }: { readonly browser: Browser; readonly gatewayUrl: string; readonly apiKey: string },
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "scanstream-screenshots-"));
  const org = await createPracticeOrg({ profile: { name: "compliant" }, role: "super" });
  const ending = new AbortController();
  const following = follow(ending.signal);
  try {
    const pages = await Promise.all(shots.map((shot) => openShot(browser, gatewayUrl, shot)));
    for (const page of pages) {
      // A phone shows either the list or what was chosen.
      const address = await page.locator(".organization-link").getAttribute("href");
      await page.goto(`${gatewayUrl}/${address ?? ""}`);
    }
    for (const page of pages) await page.locator('.pulse[data-pulse="alive"]').waitFor();
    let count = 0;
    for (const [name, login] of changes) {
      org.change(name, login);
      count = await untilMore(pages, count);
    }
    org.setFaults([{ name: "missing-events" }]);
    org.change(unexplained);
    count = await untilMore(pages, count);
    org.setFaults([]);
    org.change(...newest);
    await untilMore(pages, count);
    for (const [index, page] of pages.entries()) {
      await page.screenshot({ path: join(folder, `${shots[index]?.name ?? index}.png`) });
    }
  } finally {
    ending.abort();
    await following;
    await org.stop();
    await rm(directory, { recursive: true, force: true });
  }

  async function follow(interrupted: AbortSignal): Promise<void> {
    const env = {
      IDP_ORG_URL: org.url,
      IDP_CLIENT_ID: org.clientId,
      IDP_PRIVATE_KEY: org.privateKeyPem,
      SCANSTREAM_URL: gatewayUrl,
      SCANSTREAM_API_KEY: apiKey,
    };
    const terminal = { isTTY: false, columns: 100, color: false, write: () => undefined };
    await followCommand(
      { state: directory, interval: "2", reconcile: "0.005" },
      {
        env,
        stdout: () => undefined,
        stdoutFailed: new AbortController().signal,
        colorStdout: false,
        terminal,
        ask: null,
        interrupted,
        toolVersion: "0.0.0",
        now: () => new Date(),
      },
    );
  }
}

/** Resolves with the number of changes on the pages, once each has more than before. */
async function untilMore(pages: readonly Page[], before: number): Promise<number> {
  for (const page of pages) await page.locator(".change").nth(before).waitFor({ timeout: 60_000 });
  return (await pages[0]?.locator(".change").count()) ?? before;
}
