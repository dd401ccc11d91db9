import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { launchChromium } from "./chromium.ts";
import { freePort } from "./free_port.ts";
import { refuseInFastTest } from "./machine_tools.ts";

/** A browser of any make, as far as the cases need it that run in all of them. */
export interface DrivenBrowser extends AsyncDisposable {
  /** A tab of the same profile. WebKit paints only what has a window. */
  openTab(url: string, type?: "tab" | "window"): Promise<DrivenTab>;
}

export interface DrivenTab {
  /** The value of an expression in the page; a promise is waited for. */
  evaluate(expression: string): Promise<unknown>;
  screenshot(): Promise<Uint8Array>;
  close(): Promise<void>;
}

export const browserNames = ["chromium", "firefox", "webkit"] as const;

export async function launchBrowser(name: (typeof browserNames)[number]): Promise<DrivenBrowser> {
  refuseInFastTest(name);
  if (name === "chromium") return driveChromium();
  return name === "firefox" ? driveFirefox() : driveWebKit();
}

async function driveChromium(): Promise<DrivenBrowser> {
  const browser = await launchChromium();
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  return {
    async openTab(url) {
      const page = await context.newPage();
      await page.goto(url);
      return {
        evaluate: (expression) => page.evaluate(expression),
        screenshot: () => page.screenshot(),
        close: () => page.close(),
      };
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** A command of WebDriver, https://www.w3.org/TR/webdriver2/#endpoints, over the protocol that the browser speaks. */
type Command = (name: keyof typeof endpoints, parameters?: object) => Promise<unknown>;

const endpoints = {
  GetWindowHandle: ["GET", "/window"],
  NewWindow: ["POST", "/window/new"],
  SwitchToWindow: ["POST", "/window"],
  CloseWindow: ["DELETE", "/window"],
  Navigate: ["POST", "/url"],
  ExecuteAsyncScript: ["POST", "/execute/async"],
  TakeScreenshot: ["GET", "/screenshot"],
} as const;

/** Tabs take turns: a command goes to the one that was switched to last. */
async function drive(command: Command, stop: () => Promise<void>): Promise<DrivenBrowser> {
  // A new tab is opened from one that is there; the one that a browser starts with stays.
  const first = String(await command("GetWindowHandle"));
  let turn: Promise<unknown> = Promise.resolve();
  function inTab<Value>(handle: string, act: () => Promise<Value>): Promise<Value> {
    const mine = turn.then(async () => {
      await command("SwitchToWindow", { handle });
      return act();
    });
    turn = mine.catch(() => undefined);
    return mine;
  }
  return {
    async openTab(url, type = "tab") {
      const opened = await inTab(first, () => command("NewWindow", { type }));
      const { handle } = opened as { readonly handle: string };
      await inTab(handle, () => command("Navigate", { url }));
      return {
        evaluate: (expression) =>
          inTab(handle, () =>
            command("ExecuteAsyncScript", {
              script: `const done = arguments[0]; Promise.resolve(${expression}).then(done, (error) => done(String(error)));`,
              args: [],
            }),
          ),
        screenshot: async () =>
          Buffer.from(String(await inTab(handle, () => command("TakeScreenshot", { full: false }))), "base64"),
        close: async () => void (await inTab(handle, () => command("CloseWindow"))),
      };
    },
    [Symbol.asyncDispose]: stop,
  };
}

/** Debian has no geckodriver; Firefox itself speaks Marionette, WebDriver's commands as `[type, id, name, parameters]` over TCP. */
async function driveFirefox(): Promise<DrivenBrowser> {
  const profile = await mkdtemp(join(tmpdir(), "scanstream-firefox-"));
  const port = await freePort();
  await writeFile(join(profile, "user.js"), `user_pref("marionette.port", ${port});\n`);
  const child = spawn("firefox-esr", ["--headless", "--marionette", "--no-remote", "--profile", profile], {
    stdio: "ignore",
    env: { ...process.env, HOME: profile, MOZ_HEADLESS_WIDTH: "1280", MOZ_HEADLESS_HEIGHT: "900" },
  });
  const socket = await untilConnected(port, child);
  const answers = new Map<number, PromiseWithResolvers<unknown>>();
  let received = Buffer.alloc(0);
  socket.on("data", (bytes) => {
    received = Buffer.concat([received, bytes]);
    for (;;) {
      const colon = received.indexOf(":");
      const length = Number(received.subarray(0, colon).toString());
      if (colon === -1 || received.length < colon + 1 + length) return;
      const message: unknown = JSON.parse(received.subarray(colon + 1, colon + 1 + length).toString());
      received = received.subarray(colon + 1 + length);
      // The first one only greets.
      if (!Array.isArray(message)) continue;
      const [, id, error, result] = message as [number, number, { readonly message: string } | null, unknown];
      if (error === null) answers.get(id)?.resolve(result);
      else answers.get(id)?.reject(new Error(error.message));
      answers.delete(id);
    }
  });
  let count = 0;
  const send = async (name: string, parameters: object = {}): Promise<unknown> => {
    count += 1;
    const answer = Promise.withResolvers<unknown>();
    answers.set(count, answer);
    const text = JSON.stringify([0, count, name, parameters]);
    socket.write(`${Buffer.byteLength(text)}:${text}`);
    const result = await answer.promise;
    // Values come in an envelope, lists and objects without one.
    return typeof result === "object" && result !== null && "value" in result ? result.value : result;
  };
  await send("WebDriver:NewSession", { capabilities: { alwaysMatch: { acceptInsecureCerts: true } } });
  return drive(
    (name, parameters) => send(`WebDriver:${name}`, parameters),
    async () => {
      socket.destroy();
      await end(child);
      await rm(profile, { recursive: true, force: true });
    },
  );
}

/** Needs a screen, which is one in memory. */
async function driveWebKit(): Promise<DrivenBrowser> {
  const port = await freePort();
  const screen = spawn("Xvfb", ["-displayfd", "3", "-screen", "0", "1280x900x24"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const [display] = (await once(screen.stdio[3] as Readable, "data")) as [Buffer];
  const child = spawn("WebKitWebDriver", [`--port=${port}`], {
    stdio: "ignore",
    // As root there is no sandbox, and in memory no graphics card.
    env: {
      ...process.env,
      DISPLAY: `:${display.toString().trim()}`,
      WEBKIT_DISABLE_COMPOSITING_MODE: "1",
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1",
    },
  });
  (await untilConnected(port, child)).destroy();
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { value } = (await response.json()) as { readonly value: unknown };
    if (response.ok) return value;
    throw new Error(`WebKitWebDriver answered ${response.status}: ${JSON.stringify(value)}`);
  };
  const { sessionId } = (await call("POST", "/session", { capabilities: { alwaysMatch: {} } })) as {
    readonly sessionId: string;
  };
  return drive(
    (name, parameters = {}) => {
      const [method, path] = endpoints[name];
      return call(method, `/session/${sessionId}${path}`, method === "POST" ? parameters : undefined);
    },
    async () => {
      await call("DELETE", `/session/${sessionId}`).catch(() => undefined);
      await end(child);
      await end(screen);
    },
  );
}

async function untilConnected(port: number, child: ChildProcess) {
  for (let tries = 0; tries < 300 && child.exitCode === null; tries += 1) {
    const socket = connect(port, "127.0.0.1");
    const isConnected = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
    if (isConnected) return socket;
    await wait(100);
  }
  throw new Error(`Cannot drive the browser: ${child.spawnfile} does not answer on port ${port}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const isOver = once(child, "exit");
  child.kill();
  await isOver;
}
