import { chromium, type Browser } from "playwright-core";
import { requireProgram } from "./machine_tools.ts";

/** One for all files of a test process: a start takes more CPU time than most files have use for. It ends with the process. */
let shared: Promise<Browser> | undefined;

/** The machine's Chromium, headless, with everything off that would reach for the network by itself. */
export async function launchChromium(): Promise<Browser> {
  if ((await shared?.catch(() => undefined))?.isConnected() !== true) shared = start();
  return shared as Promise<Browser>;
}

/** A browser whose `close` closes its profiles: files run one after the other. */
async function start(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: await requireProgram("chromium"),
    args: [
      "--no-sandbox",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      // Starts no process for a page that nobody has opened yet.
      "--renderer-process-limit=1",
    ],
  });
  const close = async () => void (await Promise.all(browser.contexts().map((context) => context.close())));
  return Object.assign(browser, { close, [Symbol.asyncDispose]: close });
}
