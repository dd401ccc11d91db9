import { followScan, type ScanFollower } from "../gateway/web/model/scan_follower.ts";
import { createApi } from "../gateway/web/model/api.ts";
import { followTenant, type TenantFollower } from "../gateway/web/model/tenant_follower.ts";
import { startWebGateway } from "../test/support/web_gateway.ts";

export interface PageStormFigures {
  readonly pages: number;
  /** Requests of one page, until its lists and its scan are live. */
  readonly toOpen: number;
  /** Of one page, in a minute in which the scan moves. */
  readonly perMinute: number;
  /** Of one page, from the gateway's stop until every page is live again. */
  readonly toRecover: number;
  readonly secondsToRecover: number;
  /** Of one page, in the minute that begins with the stop. */
  readonly inMinuteOfRestart: number;
}

interface OpenPage {
  readonly tenant: TenantFollower;
  readonly scan: ScanFollower;
}

const minuteMs = 60_000;

/**
 * The page's own model, so many times, each with a scan open, at a gateway that is stopped and started again. Throws when a
 * page then does not know what was stored while the gateway was away.
 */
export async function measurePageStorm(pages: number): Promise<PageStormFigures> {
  await using gateway = await startWebGateway({
    EVENTSTREAM_MAX_STREAMS_PER_TENANT: String(3 * pages),
    DRAIN_DELAY_SECONDS: "0",
  });
  const tenant = await gateway.createTenant("Acme");
  const scan = await tenant.producer.register({ org_url: "https://acme.okta.com", checks_total: 29 });
  standInForBrowser(gateway.url);
  const requests = countRequests();
  const api = createApi({ getAuthorization: () => `Bearer ${tenant.accessToken}`, onRefused: async () => false });
  const open: OpenPage[] = [];
  for (let count = 0; count < pages; count += 1) {
    open.push({ tenant: followTenant(api, () => {}), scan: followScan(api, scan.id, () => {}) });
    // As people come, not all at once.
    if (count % 50 === 49) await pause(100);
  }
  const untilAll = async (what: string, isSo: (page: OpenPage) => boolean) => {
    const deadline = performance.now() + 5 * minuteMs;
    while (!open.every(isSo)) {
      if (performance.now() > deadline) throw new Error(`Of ${pages} pages ${open.filter(isSo).length} ${what}`);
      await pause(100);
    }
  };
  const isLive = ({ tenant, scan }: OpenPage) => tenant.connection.state === "live" && scan.connection.state === "live";
  const knows = (done: number) => (page: OpenPage) =>
    page.scan.model.scan?.checksDone === done && page.tenant.scans.items[0]?.checksDone === done;
  await untilAll("are live", isLive);
  const toOpen = requests.take();

  for (let done = 1; done <= 6; done += 1) {
    await pause(minuteMs / 6);
    await scan.check(`check_${done}`, [], { done, total: 29 });
  }
  await untilAll("know the events", knows(6));
  const perMinute = requests.take();

  const stoppedAtMs = performance.now();
  await gateway.stop();
  await gateway.start();
  await scan.update({ checks_done: 7 });
  await untilAll("are live again", (page) => isLive(page) && knows(7)(page));
  const secondsToRecover = (performance.now() - stoppedAtMs) / 1000;
  const toRecover = requests.take();
  await pause(Math.max(0, stoppedAtMs + minuteMs - performance.now()));
  const inMinuteOfRestart = toRecover + requests.take();
  await scan.check("check_8", [], { done: 8, total: 29 });
  await untilAll("know what came after the restart", knows(8));
  for (const page of open) {
    page.tenant.close();
    page.scan.close();
  }
  const each = (count: number) => count / pages;
  return {
    pages,
    toOpen: each(toOpen),
    perMinute: each(perMinute),
    toRecover: each(toRecover),
    secondsToRecover,
    inMinuteOfRestart: each(inMinuteOfRestart),
  };
}

/** The few things of a browser that the page's model names. */
function standInForBrowser(baseURI: string): void {
  const addEventListener = () => undefined;
  Object.assign(globalThis, { document: { baseURI, visibilityState: "visible", addEventListener }, addEventListener });
}

/** Of the pages; the scan's producer has an API key. */
function countRequests(): { take(): number } {
  const { fetch } = globalThis;
  let count = 0;
  globalThis.fetch = (input, init) => {
    if (new Headers(init?.headers).get("authorization")?.startsWith("Bearer ") === true) count += 1;
    return fetch(input, init);
  };
  return {
    take() {
      const taken = count;
      count = 0;
      return taken;
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
