import type { Browser, Page } from "playwright-core";

export interface Shot {
  readonly name: string;
  readonly colorScheme: "light" | "dark";
  readonly viewport: { readonly width: number; readonly height: number };
}

export const wide = { width: 1440, height: 940 };
export const phone = { width: 390, height: 844 };

export async function openShot(browser: Browser, url: string, { colorScheme, viewport }: Shot): Promise<Page> {
  const page = await browser.newPage({
    viewport,
    colorScheme,
    // Sharp on a fine screen, and not too heavy for a README.
    deviceScaleFactor: 1.5,
    reducedMotion: "reduce",
    locale: "en-US",
  });
  await page.goto(url);
  return page;
}
