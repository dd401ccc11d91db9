import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";
import { refuseInFastTest } from "./machine_tools.ts";

const candidates = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The machine's Chromium, headless, with everything off that would reach for the network by itself. */
export async function launchChromium(): Promise<Browser> {
  refuseInFastTest("Chromium");
  const executablePath = candidates.find((path) => existsSync(path));
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
