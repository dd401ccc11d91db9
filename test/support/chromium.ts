import { chromium, type Browser, type BrowserContext } from "playwright-core";
import { requireProgram } from "./machine_tools.ts";

/** One for all files of a test process: a start takes more CPU time than most files have use for. It ends with the process. */
let shared: Promise<Browser> | undefined;

/** The machine's Chromium, headless, with everything off that would reach for the network by itself. */
export async function launchChromium(): Promise<Browser> {
  // A program has to end it.
  if (process.env["VITEST"] === undefined) return start();
  if ((await shared?.catch(() => undefined))?.isConnected() !== true) shared = start();
  return createLease(await (shared as Promise<Browser>));
}

async function start(): Promise<Browser> {
  return chromium.launch({
    executablePath: await requireProgram("chromium"),
    args: [
      "--no-sandbox",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
    ],
  });
}

/** The browser as if it were the file's own: closing it closes the profiles that were opened through this. */
function createLease(browser: Browser): Browser {
  const opened = new Set<BrowserContext>();
  const keep = (context: BrowserContext) => void opened.add(context.on("close", () => opened.delete(context)));
  const close = async () => void (await Promise.all([...opened].map((context) => context.close())));
  const own = {
    close,
    [Symbol.asyncDispose]: close,
    async newContext(...options: Parameters<Browser["newContext"]>) {
      const context = await browser.newContext(...options);
      keep(context);
      return context;
    },
    async newPage(...options: Parameters<Browser["newPage"]>) {
      const page = await browser.newPage(...options);
      keep(page.context());
      return page;
    },
  };
  return new Proxy(browser, { get: (target, name) => Reflect.get(Object.hasOwn(own, name) ? own : target, name) });
}
