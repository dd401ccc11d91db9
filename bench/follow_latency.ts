import { setTimeout as pause } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { admins } from "../practice_org/log/admins.ts";
import type { FollowedOrg, FollowStage } from "./follow_stage.ts";

export interface LatencyFigures {
  readonly changes: number;
  /** Changes that the page did not show within a minute. */
  readonly missing: number;
  /** From the answer to the change until the page's document shows its line. */
  readonly medianSeconds: number;
  readonly p99Seconds: number;
  readonly maxSeconds: number;
  /** Requests to the provider that the changes cost, polls of the log and token requests aside. */
  readonly requests: number;
}

export interface WatchedOrg extends FollowedOrg {
  /** Lines that the page has shown, with the time of its clock, which is this machine's. */
  readonly shown: readonly ShownLine[];
  /** Rings the follower's doorbell, as the provider's hook would. */
  ring(): Promise<void>;
  /** Closes the page and stops the follower. */
  leave(): Promise<void>;
}

interface ShownLine {
  readonly atMs: number;
  readonly text: string;
}

/** Opens the org's page, signs in, and notes each line that appears in its timeline. */
export async function watchOrg(stage: FollowStage, browser: Browser, followed: FollowedOrg): Promise<WatchedOrg> {
  const { gatewayUrl, apiKey, request } = stage;
  const { monitorId } = followed;
  const shown: ShownLine[] = [];
  // Without a graphics processor twenty pulses that are drawn sixty times a second leave no time for anything else.
  const page = await browser.newPage({ reducedMotion: "reduce" });
  await page.exposeFunction("lineShown", (line: ShownLine) => void shown.push(line));
  await page.goto(`${gatewayUrl}/#/monitors/${monitorId}`);
  await page.fill("#credential", apiKey);
  await page.press("#credential", "Enter");
  await page.locator('.pulse[data-pulse="alive"]').waitFor();
  await page.locator('#main .connection[data-state="live"]').waitFor();
  await page.evaluate(() => {
    const tell = Reflect.get(globalThis, "lineShown") as (line: ShownLine) => void;
    const list = document.querySelector(".timeline .changes");
    if (list === null) throw new Error("The page has no timeline");
    new MutationObserver((records) => {
      const atMs = Date.now();
      for (const node of records.flatMap(({ addedNodes }) => [...addedNodes]))
        tell({ atMs, text: node.textContent ?? "" });
    }).observe(list, { childList: true });
  });
  const made = await request(`/api/v1/monitors/${monitorId}/doorbell`, { method: "PUT" });
  const { url, secret } = (await made.json()) as { readonly url: string; readonly secret: string };
  return {
    ...followed,
    shown,
    async ring() {
      const answer = await fetch(url, { method: "POST", headers: { authorization: secret }, body: "{}" });
      if (answer.status !== 204) throw new Error(`The doorbell answered ${answer.status}`);
    },
    async leave() {
      await page.close();
      await followed.stop();
    },
  };
}

export interface LatencyOptions {
  /** Names of changes, each with the one that takes it back. */
  readonly pairs: readonly (readonly [away: string, back: string])[];
  /** For each org; an even number. */
  readonly changes: number;
  /** Between a line and the next change, at random. */
  readonly pauseSeconds: readonly [number, number];
  readonly rings: boolean;
  readonly random: () => number;
}

const missingAfterMs = 60_000;

/** Changes all orgs side by side, one change of each at a time, through the practice org's own API. */
export async function measureLatency(orgs: readonly WatchedOrg[], options: LatencyOptions): Promise<LatencyFigures> {
  const measured = (await Promise.all(orgs.map((org) => changeOrg(org, options)))).flat();
  const seconds = measured.flatMap((one) => (one.ms === null ? [] : [one.ms / 1000])).toSorted((a, b) => a - b);
  const at = (share: number) => seconds[Math.ceil(seconds.length * share) - 1] ?? Number.NaN;
  return {
    changes: measured.length,
    missing: measured.length - seconds.length,
    medianSeconds: at(0.5),
    p99Seconds: at(0.99),
    maxSeconds: at(1),
    requests: measured.reduce((sum, { requests }) => sum + requests, 0),
  };
}

interface Measured {
  /** Null: not shown. */
  readonly ms: number | null;
  readonly requests: number;
}

async function changeOrg(org: WatchedOrg, options: LatencyOptions): Promise<readonly Measured[]> {
  const { pairs, changes, random } = options;
  const measured: Measured[] = [];
  while (measured.length < changes) {
    const pair = pairs[Math.floor(random() * pairs.length)];
    if (pair === undefined) throw new RangeError("Cannot measure: no change moves a verdict");
    for (const change of pair) measured.push(await makeChange(org, change, options));
  }
  return measured;
}

async function makeChange(
  { org, shown, ring }: WatchedOrg,
  change: string,
  { pauseSeconds: [least, most], rings, random }: LatencyOptions,
): Promise<Measured> {
  const actor = admins[Math.floor(random() * admins.length)]?.alternateId ?? "";
  const [linesBefore, requestsBefore] = [shown.length, org.requests.length];
  const answer = await fetch(`${org.url}/practice/change`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: change, actor }),
  });
  if (!answer.ok) throw new Error(`Cannot make the change ${change}: ${await answer.text()}`);
  await answer.body?.cancel();
  const madeMs = Date.now();
  if (rings) await ring();
  const find = () => shown.slice(linesBefore).find(({ text }) => text.includes(actor));
  while (find() === undefined && Date.now() - madeMs < missingAfterMs) await pause(50);
  const line = find();
  await pause(1000 * (least + random() * (most - least)));
  const made = org.requests.slice(requestsBefore).map(({ path }) => path);
  const requests = made.filter((path) => path.startsWith("/api/v1/") && !path.startsWith("/api/v1/logs")).length;
  return { ms: line === undefined ? null : line.atMs - madeMs, requests };
}
