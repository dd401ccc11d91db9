import type { ServerResponse } from "node:http";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { launchChromium } from "../../support/chromium.ts";
import { builtPackage } from "../../support/command_line.ts";
import { frame, startScriptedServer, type ScriptedServer } from "../../support/scripted_server.ts";

/** Tabs of one browser, over the modules as they are published: who has the connection, and what the others get. */

const browser = await launchChromium();
afterAll(() => browser.close());

interface Stage extends AsyncDisposable {
  readonly context: BrowserContext;
  readonly server: ScriptedServer;
  readonly opened: () => number;
  readonly streams: ReadonlySet<ServerResponse>;
  /** To every open stream. */
  send(text: string): void;
  /** A tab that follows the stream; `log` is what it was told. */
  openTab(options?: string): Promise<Tab>;
}

interface Tab {
  readonly page: Page;
  log(): Promise<readonly string[]>;
  untilLog(...entries: readonly string[]): Promise<void>;
}

const snapshotOf = (n: number) => `: open\n\n${frame("thing.snapshot", { n })}: snapshot complete\n\n`;
const event = (n: number) => frame("thing.updated", { n });

async function openStage(): Promise<Stage> {
  const streams = new Set<ServerResponse>();
  let opened = 0;
  const server = await startScriptedServer(async (response, request) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    if (pathname.endsWith(".js")) {
      response.setHeader("content-type", "text/javascript");
      response.end(await readFile(join(builtPackage, "modules", pathname)));
    } else if (pathname.startsWith("/api/")) {
      response.setHeader("content-type", "text/event-stream");
      opened += 1;
      streams.add(response);
      response.on("close", () => streams.delete(response));
      response.write(snapshotOf(opened));
    } else {
      response.setHeader("content-type", "text/html");
      response.end("<!doctype html><title>tab</title>");
    }
  });
  const context = await browser.newContext();
  return {
    context,
    server,
    streams,
    opened: () => opened,
    send: (text) => streams.forEach((response) => response.write(text)),
    async openTab(options = "{}") {
      const page = await context.newPage();
      await page.goto(new URL("/", server.url).href);
      await page.evaluate(
        `import("/subscribe.js").then(({ subscribe }) => {
          globalThis.log = [];
          globalThis.subscription = subscribe("/api/things/event-stream", {
            share: true, apiKey: "key-one", backoffMs: [1, 2],
            onSnapshot: (all) => log.push(...all.map(({ data }) => "snapshot " + data.n)),
            onEvent: ({ type, data }) => void log.push(type + " " + data.n),
            onStateChange: (state, { error }) => void log.push(error === null ? state : state + " " + (error.detail ?? error.code)),
            ...${options},
          });
          subscription.finished.then((end) => log.push("finished " + end.state));
        })`,
      );
      const log = () => page.evaluate(() => Reflect.get(globalThis, "log") as string[]);
      return { page, log, untilLog: (...entries) => expect.poll(log, { timeout: 8000 }).toEqual(entries) };
    },
    async [Symbol.asyncDispose]() {
      await context.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

// A browser passes on messages and locks separately: either may come first.
test.each([0, 100])(
  "eight tabs are live on one connection, whose messages take %d ms, and who joins has the snapshot first",
  async (lateMs) => {
    await using stage = await openStage();
    await stage.context.addInitScript((ms) => {
      const add = BroadcastChannel.prototype.addEventListener as (
        type: string,
        listener: (event: Event) => void,
      ) => void;
      BroadcastChannel.prototype.addEventListener = function (this: BroadcastChannel, type: string, listener: unknown) {
        add.call(this, type, (event) => void setTimeout(listener as (event: Event) => void, ms, event));
      };
    }, lateMs);
    const tabs = await Promise.all(Array.from({ length: 7 }, () => stage.openTab()));
    for (const tab of tabs) await tab.untilLog("connecting", "snapshot 1", "live");
    stage.send(event(1));
    for (const tab of tabs) await tab.untilLog("connecting", "snapshot 1", "live", "thing.updated 1");
    const late = await stage.openTab();
    await late.untilLog("connecting", "snapshot 1", "live", "thing.updated 1");
    expect(stage.opened()).toBe(1);
    // The end reaches everybody, and nobody asks again.
    stage.send(frame("thing.end", { thing_id: 1, n: 2 }));
    for (const tab of [...tabs, late]) {
      await tab.untilLog(
        "connecting",
        "snapshot 1",
        "live",
        "thing.updated 1",
        "thing.end 2",
        "ended",
        "finished ended",
      );
    }
    expect(stage.opened()).toBe(1);
  },
);

test.each([
  ["is closed", (page: Page) => page.close()],
  ["crashes", (page: Page) => void page.goto("chrome://crash").catch(() => undefined)],
  ["closes its subscription", (page: Page) => page.evaluate("subscription.close()")],
  // A headless browser freezes no page; one that hangs without a word is the next case.
  ["is frozen", (page: Page) => page.evaluate(() => document.dispatchEvent(new Event("freeze")))],
])("another tab goes on, with a fresh snapshot, when the one that has the connection %s", async (_how, leave) => {
  await using stage = await openStage();
  const leader = await stage.openTab();
  await leader.untilLog("connecting", "snapshot 1", "live");
  const others = [await stage.openTab(), await stage.openTab()];
  for (const tab of others) await tab.untilLog("connecting", "snapshot 1", "live");
  await leave(leader.page);
  const after = ["connecting", "snapshot 1", "live", "reconnecting handover", "snapshot 2", "live"];
  for (const tab of others) await tab.untilLog(...after);
  stage.send(event(7));
  for (const tab of others) await tab.untilLog(...after, "thing.updated 7");
  expect(stage.opened()).toBe(2);
  expect(stage.streams.size).toBe(1);
});

test("a tab that hangs with the connection loses it", async () => {
  await using stage = await openStage();
  const leader = await stage.openTab("{ heartbeatMs: 400 }");
  await leader.untilLog("connecting", "snapshot 1", "live");
  void leader.page.evaluate("for (const end = Date.now() + 30_000; Date.now() < end; );").catch(() => undefined);
  const other = await stage.openTab("{ heartbeatMs: 400 }");
  const beats = setInterval(() => stage.send(": heartbeat\n"), 200);
  // Five of its seconds are the other one's wait for an answer.
  await expect.poll(other.log, { timeout: 20_000 }).toEqual(["connecting", "snapshot 2", "live"]);
  clearInterval(beats);
});

test("tabs with different credentials never share, and no credential leaves a tab", async () => {
  await using stage = await openStage();
  await stage.context.addInitScript(() => {
    const { postMessage } = BroadcastChannel.prototype;
    const sent: string[] = [];
    Reflect.set(globalThis, "sent", sent);
    BroadcastChannel.prototype.postMessage = function (message) {
      const toText = (_key: string, value: unknown) =>
        value instanceof Uint8Array ? new TextDecoder().decode(value) : value;
      sent.push(this.name + JSON.stringify(message, toText));
      postMessage.call(this, message);
    };
  });
  const token = (claims: object) => `h.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.s`;
  const withToken = (claims: object) => `{ apiKey: undefined, getAccessToken: () => "${token(claims)}" }`;
  // Five of the six connections that a browser opens to one server.
  const credentials = [
    "{}",
    '{ apiKey: "key-two" }',
    withToken({ sub: "ann", tenant_id: "one", iat: 1, exp: 2 }),
    withToken({ sub: "ann", tenant_id: "two", iat: 1, exp: 2 }),
    '{ apiKey: undefined, share: "name of a credential", fetch: (...all) => fetch(...all) }',
  ];
  for (const [index, options] of credentials.entries()) {
    await (await stage.openTab(options)).untilLog("connecting", `snapshot ${index + 1}`, "live");
  }
  // The same person with a newer token.
  const same = await stage.openTab(withToken({ sub: "ann", tenant_id: "one", iat: 3, exp: 4, jti: "x" }));
  await same.untilLog("connecting", "snapshot 3", "live");
  expect(stage.opened()).toBe(credentials.length);
  stage.send(event(1));
  for (const page of stage.context.pages()) {
    const sent = (await page.evaluate(() => Reflect.get(globalThis, "sent") as string[])).join("\n");
    expect(sent).not.toMatch(/key-one|key-two|name of a credential|"ann"|h\.ey/);
  }
});

test("a page that wakes up keeps a stream that is alive, and opens one again that may be dead", async () => {
  await using stage = await openStage();
  const tab = await stage.openTab("{ share: false, heartbeatMs: 1000 }");
  const live = ["connecting", "snapshot 1", "live"];
  await tab.untilLog(...live);
  const wake = () => tab.page.evaluate(() => dispatchEvent(new Event("online")));
  await wake();
  stage.send(event(1));
  await tab.untilLog(...live, "thing.updated 1");
  expect(stage.opened()).toBe(1);
  // As after a night in a bag: the clock has gone on, and no timer has.
  await tab.page.evaluate("{ const now = Date.now; Date.now = () => now() + 3_600_000; }");
  await wake();
  await tab.untilLog(...live, "thing.updated 1", "reconnecting wake", "snapshot 2", "live");
  await expect.poll(() => stage.streams.size).toBe(1);
});
