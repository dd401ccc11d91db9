import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildPage } from "../../gateway/web/build.ts";
import { launchChromium } from "../support/chromium.ts";
import {
  createGatewayState,
  startContractGateway,
  type ContractGateway,
  type GatewayTenant,
} from "../support/contract_gateway.ts";
import { buildFinding, createScanProducer, type ProducedScan } from "../support/scan_producer.ts";
import { openPage } from "./watched_page.ts";

/** What a gateway, or a proxy before it, may do wrong: shown with a server that does it on demand. */
let browser: Browser;
let webFolder: string;

beforeAll(async () => {
  webFolder = await mkdtemp(join(tmpdir(), "scanstream-web-"));
  [browser] = await Promise.all([launchChromium(), buildPage(webFolder)]);
});

afterAll(async () => {
  await browser.close();
  await rm(webFolder, { recursive: true, force: true });
});

test("retries a full gateway after its Retry-After, and shows the countdown", async () => {
  let isFull = true;
  await using stage = await setStage((request, response) => {
    if (!isFull || !isStream(request)) return false;
    return refuse(response, 429, "This tenant has as many open streams as it may", { "retry-after": "2" });
  });
  await using watched = await openPage(browser, stage.gateway.url);
  await watched.untilConnection("reconnecting");
  const connection = watched.page.locator(".connection");
  await connection.filter({ hasText: "This tenant has as many open streams as it may · next try in" }).waitFor();
  expect(await watched.page.getByRole("heading", { level: 1, name: "acme.okta.com" }).isVisible()).toBe(true);
  isFull = false;
  await watched.untilConnection("live");
  expect(await connection.textContent()).not.toContain("as many");
});

test("'Try now' ends the pause before the next retry", async () => {
  let isUnavailable = true;
  await using stage = await setStage((request, response) =>
    isUnavailable && isStream(request)
      ? refuse(response, 503, "The broker is unavailable", { "retry-after": "600" })
      : false,
  );
  await using watched = await openPage(browser, stage.gateway.url);
  await watched.page.locator(".connection", { hasText: "The broker is unavailable · next try in" }).waitFor();
  isUnavailable = false;
  await watched.page.getByRole("button", { name: "Try now" }).click();
  await watched.untilConnection("live");
});

test("keeps showing the scan when its stream is refused for good, and offers a retry", async () => {
  let isRefused = true;
  await using stage = await setStage((request, response) =>
    isRefused && isStream(request) ? refuse(response, 403, "You may not follow this scan") : false,
  );
  await using watched = await openPage(browser, stage.gateway.url);
  await watched.untilConnection("failed");
  await watched.page.locator(".connection", { hasText: "You may not follow this scan" }).waitFor();
  expect(await watched.page.getByRole("heading", { level: 1, name: "acme.okta.com" }).isVisible()).toBe(true);
  isRefused = false;
  await watched.page.getByRole("button", { name: "Try now" }).click();
  await watched.untilConnection("live");
});

test("shows every finding after a stream that was cut three times", async () => {
  await using stage = await setStage();
  await using watched = await openPage(browser, stage.gateway.url);
  for (let count = 1; count <= 3; count += 1) {
    await watched.untilConnection("live");
    stage.gateway.cutStreams();
    const check = `check_${count}`;
    await stage.scan.check(check, [buildFinding({ check, resource_name: `Finding ${count}` })], {
      done: count,
      total: 3,
    });
    await watched.untilConnection("reconnecting");
  }
  await watched.untilConnection("live");
  await stage.scan.end("completed", { pass: 0, fail: 3, manual: 0 });
  await watched.untilConnection("ended");
  await expect.poll(() => watched.page.locator(".finding").count()).toBe(3);
});

test("retries after a proxy's error page, without showing its markup", async () => {
  let isBroken = true;
  await using stage = await setStage((request, response) => {
    if (!isBroken || !(request.url ?? "").includes("/findings")) return false;
    response.writeHead(502, { "content-type": "text/html" });
    response.end("<h1>Bad gateway</h1>");
    return true;
  });
  await using watched = await openPage(browser, stage.gateway.url);
  await watched.untilConnection("reconnecting");
  await watched.page.locator(".connection", { hasText: "answered with status 502" }).waitFor();
  isBroken = false;
  await watched.untilConnection("live");
});

test("keeps the list of scans when it cannot be refreshed, and shows why", async () => {
  let isBroken = false;
  await using stage = await setStage((request, response) =>
    isBroken && (request.url ?? "").endsWith("/scans?limit=50")
      ? refuse(response, 503, "The database is unavailable")
      : false,
  );
  await using watched = await openPage(browser, stage.gateway.url);
  await watched.untilConnection("live");
  isBroken = true;
  await watched.page.getByText("The database is unavailable. Trying again by itself.").waitFor();
  expect(await watched.page.locator(".scan-link").count()).toBe(1);
  isBroken = false;
  await watched.page.getByText("The database is unavailable").waitFor({ state: "detached" });
});

test("shows that the gateway is unavailable, and can retry", async () => {
  let isUnavailable = true;
  await using stage = await setStage((request, response) =>
    isUnavailable && request.url === "/demo/session" ? refuse(response, 503, "Starting") : false,
  );
  await using watched = await openPage(browser, stage.gateway.url);
  await watched.page.getByRole("heading", { name: "The gateway does not answer" }).waitFor();
  await watched.page.getByText("Starting").waitFor();
  isUnavailable = false;
  await watched.page.getByRole("button", { name: "Try again" }).click();
  await watched.untilConnection("live");
});

test("shows that it is loading until the first answer comes", async () => {
  const held: (() => void)[] = [];
  await using stage = await setStage((request, response) => {
    if (request.url !== "/demo/session") return false;
    held.push(() => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(
        JSON.stringify({ access_token: stage.tenant.accessToken, tenant_id: stage.tenant.id, tenant_name: "Acme" }),
      );
    });
    return true;
  });
  await using watched = await openPage(browser, stage.gateway.url);
  await watched.page.getByText("Loading…").waitFor();
  await expect.poll(() => held.length).toBe(1);
  held[0]?.();
  await watched.untilConnection("live");
});

test("renews the demo's token when the gateway no longer accepts it", async () => {
  let refusals = 0;
  await using stage = await setStage((request, response) => {
    if (refusals > 0 || !(request.url ?? "").includes("stream-tokens")) return false;
    refusals += 1;
    return refuse(response, 401, "The token has expired");
  });
  await using watched = await openPage(browser, stage.gateway.url);
  await watched.untilConnection("live");
  const sessions = stage.gateway.requests.filter(({ url }) => url === "/demo/session");
  expect(sessions).toHaveLength(2);
});

interface Stage extends AsyncDisposable {
  readonly gateway: ContractGateway;
  readonly tenant: GatewayTenant;
  readonly scan: ProducedScan;
}

async function setStage(intercept?: (request: IncomingMessage, response: ServerResponse) => boolean): Promise<Stage> {
  const state = createGatewayState(["Acme"]);
  const [tenant] = state.tenants;
  if (tenant === undefined) throw new Error("The gateway has no tenant");
  const gateway = await startContractGateway({
    state,
    webFolder,
    demo: tenant,
    ...(intercept === undefined ? {} : { intercept }),
  });
  const producer = createScanProducer(gateway.url, tenant.apiKey);
  const scan = await producer.register({ org_url: "https://acme.okta.com", checks_total: 3 });
  return { gateway, tenant, scan, [Symbol.asyncDispose]: () => gateway.close() };
}

function isStream(request: IncomingMessage): boolean {
  return (request.url ?? "").endsWith("/event-stream");
}

function refuse(response: ServerResponse, status: number, detail: string, headers: Record<string, string> = {}): true {
  response.writeHead(status, { "content-type": "application/problem+json", ...headers });
  response.end(JSON.stringify({ type: "about:blank", title: "Refused", status, detail, code: "refused" }));
  return true;
}
