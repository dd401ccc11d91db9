/**
 * Takes the pictures of the page, each view and state of it: `npm run screenshots`, into `docs/images`, or
 * `node test/web/screenshots.ts FOLDER [NAME…]` for some scenes, some looks, or both.
 */
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { launchChromium } from "../support/chromium.ts";
import { builtPackage } from "../support/command_line.ts";
import { launchBrowser, type DrivenTab } from "../support/driven_browser.ts";
import { buildPage } from "../../gateway/web/build.ts";
import { withTimeout } from "../../shared/with_timeout.ts";
import { scenes, showScene, type Scene } from "./shot_scenes.ts";
import { openShotStage, type ShotStage } from "./shot_stage.ts";
import { stopClock } from "./stopped_clock.ts";

interface Look {
  readonly name: string;
  readonly options?: BrowserContextOptions;
  /** The text size that the reader has chosen in the browser, in px, where it is not 16. */
  readonly textSize?: number;
  readonly isFor?: (scene: Scene) => boolean;
}

const wide = { width: 1440, height: 900 };
const looks: readonly Look[] = [
  { name: "chromium" },
  { name: "dark", options: { colorScheme: "dark" } },
  { name: "narrow", options: { viewport: { width: 320, height: 900 } }, isFor: ({ isWall }) => isWall !== true },
  {
    name: "large_text",
    textSize: 32,
    isFor: ({ isWall }) => isWall !== true,
  },
  { name: "forced_colors", options: { forcedColors: "active", colorScheme: "dark" } },
  { name: "print", isFor: ({ isPrinted }) => isPrinted === true },
  { name: "1080p", options: { viewport: { width: 1920, height: 1080 } }, isFor: ({ isWall }) => isWall === true },
  { name: "4k", options: { viewport: { width: 3840, height: 2160 } }, isFor: ({ isWall }) => isWall === true },
];

const longestShotMs = 60_000;
/** When the first of what the pictures show was stored. */
const storedFromMs = Date.parse("2026-11-25T09:00:00Z");
/** Text is as sharp as in the PNG; what is lost are shades. */
const pictureQuality = 0.75;
const otherBrowsers = ["firefox", "webkit"] as const;

/** The pictures that documents show, of the set. */
const shownInDocuments = { live_light: ["scan_running", "chromium"], live_dark: ["scan_running", "dark"] } as const;

/** Resolves with what went wrong: one picture that cannot be taken does not cost the others. */
export async function takeScreenshots(
  folder: string,
  { wantedScenes, wantedLooks }: { readonly wantedScenes: readonly Scene[]; readonly wantedLooks: readonly string[] },
): Promise<readonly string[]> {
  const views = join(folder, "views");
  await mkdir(views, { recursive: true });
  await buildPage(join(builtPackage, "web"));
  using clock = stopClock(storedFromMs);
  await using stage = await openShotStage(() => clock.tick());
  const chromium = await launchChromium();
  const encode = await openEncoder(chromium);
  const problems: string[] = [];
  const take = async (scene: Scene, look: string, open: (url: string) => Promise<DrivenTab>) => {
    try {
      const image = await withTimeout(shoot(stage, scene, open), longestShotMs);
      await writeFile(join(views, toFile(scene, look)), await encode(image));
      for (const [name, [shown, as]] of Object.entries(shownInDocuments)) {
        if (scene.name === shown && as === look) await writeFile(join(folder, `${name}.png`), image);
      }
      return true;
    } catch (error) {
      problems.push(`${scene.name}, ${look}: ${error instanceof Error ? error.message : String(error)}`);
      return false;
    }
  };
  try {
    for (const look of looks.filter(({ name }) => wantedLooks.includes(name))) {
      const { name, isFor = () => true } = look;
      for (const scene of wantedScenes.filter(isFor))
        await take(scene, name, (url) => openInChromium(chromium, look, { url, nowMs: clock.nowMs }));
    }
    for (const name of otherBrowsers.filter((browser) => wantedLooks.includes(browser))) {
      await using browser = await launchBrowser(name);
      for (const scene of wantedScenes) {
        // A browser that does not answer once does not answer again.
        if (!(await take(scene, name, (url) => browser.openTab(url, "window")))) break;
      }
    }
  } finally {
    await chromium.close();
  }
  return problems;
}

/** Makes a WebP of a PNG, a quarter as large, by the browser's own encoder. */
async function openEncoder(browser: Browser): Promise<(png: Uint8Array) => Promise<Uint8Array>> {
  const page = await browser.newPage();
  return async (png) => {
    const url = await page.evaluate(
      async ([base64, quality]) => {
        const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob());
        const canvas = document.createElement("canvas");
        canvas.width = image.width;
        canvas.height = image.height;
        canvas.getContext("2d")?.drawImage(image, 0, 0);
        return canvas.toDataURL("image/webp", quality);
      },
      [Buffer.from(png).toString("base64"), pictureQuality] as const,
    );
    return Buffer.from(url.slice(url.indexOf(",") + 1), "base64");
  };
}

async function openInChromium(
  browser: Browser,
  { name, options, textSize }: Look,
  { url, nowMs }: { readonly url: string; readonly nowMs: number },
): Promise<DrivenTab> {
  const page = await browser.newPage({ viewport: wide, reducedMotion: "reduce", locale: "en-US", ...options });
  await page.clock.setFixedTime(nowMs);
  if (textSize !== undefined) {
    const session = await page.context().newCDPSession(page);
    await session.send("Page.setFontSizes", { fontSizes: { standard: textSize, fixed: textSize } });
  }
  await page.goto(url);
  return {
    evaluate: (expression) => page.evaluate(expression),
    async screenshot() {
      if (name !== "print") return page.screenshot();
      // A sheet of A4 within its margins; what is on it is the whole page, from its beginning.
      await page.emulateMedia({ media: "print" });
      await page.setViewportSize({ width: 680, height: 1000 });
      await page.evaluate("scrollTo(0, 0)");
      return page.screenshot();
    },
    close: () => page.close(),
  };
}

async function shoot(stage: ShotStage, scene: Scene, open: (url: string) => Promise<DrivenTab>): Promise<Uint8Array> {
  const tab = await showScene(stage, scene, open);
  try {
    return await tab.screenshot();
  } finally {
    await tab.close();
    if (scene.away !== undefined) await stage.awayGateway.start();
  }
}

function toFile({ name }: Scene, look: string): string {
  return `${name}_${look}.webp`;
}

/** A page on which all of them are seen. */
function toIndex(taken: readonly string[]): string {
  const parts = scenes.map((scene) => {
    const shown = [...looks.filter(({ isFor = () => true }) => isFor(scene)).map(({ name }) => name), ...otherBrowsers];
    const pictures = shown.flatMap((look) => {
      const file = toFile(scene, look);
      if (!taken.includes(file)) return [];
      return `<a href="${file}"><img alt="${scene.title}: ${look}" src="${file}" width="240"></a>`;
    });
    return `## ${scene.title}\n\n${pictures.join("\n")}\n`;
  });
  const intro =
    "Each view and state of the page in Chromium, Firefox and WebKit, and in Chromium with other looks. Made by `npm run screenshots`.";
  return `# Pictures of the page\n\n${intro}\n\n${parts.join("\n")}`;
}

if (import.meta.main) {
  const [folder = fileURLToPath(new URL("../../docs/images", import.meta.url)), ...only] = process.argv.slice(2);
  const allLooks = [...looks.map(({ name }) => name), ...otherBrowsers];
  const namedScenes = scenes.filter(({ name }) => only.includes(name));
  const namedLooks = allLooks.filter((name) => only.includes(name));
  const views = join(folder, "views");
  if (only.length === 0) await rm(views, { recursive: true, force: true });
  const problems = await takeScreenshots(folder, {
    wantedScenes: namedScenes.length === 0 ? scenes : namedScenes,
    wantedLooks: namedLooks.length === 0 ? allLooks : namedLooks,
  });
  await writeFile(join(views, "README.md"), toIndex(await readdir(views)));
  for (const problem of problems) console.error(problem);
  // Timers that were set while the clock stood still would keep the process.
  process.exit(problems.length > 0 ? 1 : 0);
}
