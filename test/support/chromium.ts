import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";
import { refuseInFastTest } from "./machine_tools.ts";

const candidates = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
/** The same engine without what draws windows, for half of the CPU time. */
const shell = "/usr/bin/chromium-headless-shell";

/** The machine's Chromium, headless, with everything off that would reach for the network by itself. `isWhole`: as people have it. */
export async function launchChromium({ isWhole = false } = {}): Promise<Browser> {
  refuseInFastTest("Chromium");
  const executablePath = [...(isWhole ? [] : [shell]), ...candidates].find((path) => existsSync(path));
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
