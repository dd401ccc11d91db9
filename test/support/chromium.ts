import { existsSync } from "node:fs";
import { chromium, type Browser, type BrowserContext } from "playwright-core";
import { refuseInFastTest } from "./machine_tools.ts";

const candidates = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
/** The same engine without what draws windows, for half of the CPU time. */
const shell = "/usr/bin/chromium-headless-shell";

/** One for all files of a test process: a start takes more CPU time than most files have use for. It ends with the process. */
let shared: Promise<Browser> | undefined;

/** The machine's Chromium, headless, with everything off that would reach for the network by itself. `isWhole`: as people have it. */
export async function launchChromium({ isWhole = false } = {}): Promise<Browser> {
  refuseInFastTest("Chromium");
  // A program has to end it.
  if (isWhole || process.env["VITEST"] === undefined) return start(isWhole ? candidates : [shell, ...candidates]);
  if ((await shared?.catch(() => undefined))?.isConnected() !== true) shared = start([shell, ...candidates]);
  return createLease(await (shared as Promise<Browser>));
}

function start(programs: readonly string[]): Promise<Browser> {
  const executablePath = programs.find((path) => existsSync(path));
  if (executablePath === undefined) {
    throw new Error(`Cannot test the page: no Chromium at ${candidates.join(", ")}: install the package "chromium"`);
  }
  return chromium.launch({
    executablePath,
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
