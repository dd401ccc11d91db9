import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runtimeComplaints } from "../edge/runtime_complaints.ts";
import { launchChromium } from "../support/chromium.ts";
import { startEdgeBackends, type EdgeBackends } from "../support/edge_backends.ts";
import { createScanProducer } from "../support/scan_producer.ts";
import { startWranglerDev, type WranglerDev } from "../support/wrangler_dev.ts";
import { openPage, signIn, type WatchedPage } from "./watched_page.ts";
import { followsScanToItsEnd, recoversAfter, signsInWithoutLeaking, type WatchingTenant } from "./watching_cases.ts";

/** The page as `wrangler dev` serves it, over Upstash's REST and Neon's HTTP. */
let browser: Browser;
let backends: EdgeBackends;
let worker: WranglerDev;
const output: string[] = [];

beforeAll(async () => {
  backends = await startEdgeBackends();
  const environment = backends.workerEnvironment;
  const onOutput = (text: string) => void output.push(text);
  [browser, worker] = await Promise.all([launchChromium(), startWranglerDev({ environment, onOutput })]);
});

afterAll(async () => {
  await browser.close();
  await worker.stop();
  await backends.close();
});

async function createTenant(name: string): Promise<WatchingTenant> {
  const { apiKey, token } = await backends.createTenant(name);
  return { apiKey, accessToken: token, producer: createScanProducer(worker.url, apiKey) };
}

async function openSignedIn({ apiKey }: WatchingTenant): Promise<WatchedPage> {
  const watched = await openPage(browser, worker.url);
  await signIn(watched.page, apiKey);
  await watched.page.getByRole("heading", { name: "No scans yet" }).waitFor();
  return watched;
}

test("an API key signs in, and never shows up in a URL or in storage", async () => {
  const { apiKey, producer } = await createTenant("Signing");
  await signsInWithoutLeaking(browser, worker.url, { secret: apiKey, producer });
});

test("follows a scan from its start to its end without a reload", async () => {
  const acme = await createTenant("Following");
  await using watched = await openSignedIn(acme);
  await followsScanToItsEnd(watched, acme.producer, () => watched.page.locator(".scan-link").click());
});

test("shows the current state after Upstash was cut during a scan", async () => {
  const acme = await createTenant("Cut");
  await using watched = await openSignedIn(acme);
  const cut = async () => backends.bridgeNetwork.cut();
  const interruption = { cut, reason: "the gateway lost its broker" };
  await recoversAfter(interruption, watched, { producer: acme.producer, gatewayUrl: worker.url });
});

test("no request touched another request's I/O, and S9: no secret was logged", () => {
  const log = output.join("");
  expect(log).toContain('"route":"/api/v1/scans/:id/event-stream"');
  expect(runtimeComplaints(log)).toEqual([]);
  for (const secret of backends.secrets()) expect(log).not.toContain(secret);
});
