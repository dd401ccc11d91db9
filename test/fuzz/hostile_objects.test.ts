import { afterEach, expect, test } from "vitest";
import {
  createHostileOrg,
  requireReports,
  requireSameFromFile,
  requireSoundResults,
  scanOrg,
} from "../support/hostile_org.ts";
import { createHostileSource } from "../support/hostile_text.ts";
import { createScriptedIdp } from "../support/scripted_idp.ts";
import { fuzzed } from "./fuzzed.ts";

/**
 * Scans of orgs of hostile objects, by the real client from a real HTTP server. `npm run test:nightly` sends a million;
 * `FUZZ_OBJECTS=N` any number.
 */

const objects = Number(process.env["FUZZ_OBJECTS"] ?? "2000");
const objectsPerScan = 10_000;
const ids = ["00p1", "rst1", "00u1", "0oa1", "nzo1"];

const owned: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of owned.splice(0).toReversed()) await stop();
});

async function startOrg(options: { readonly seed: number; readonly rate: number; readonly entriesPerList: number }) {
  const source = createHostileSource({ ...options, ids });
  const org = createHostileOrg({ source, entriesPerList: options.entriesPerList });
  const idp = await createScriptedIdp({ otherwise: org.otherwise });
  owned.push(() => idp.stop());
  return { idp, org };
}

test(
  `${objects} hostile objects end no scan, and leave one sound result of each check`,
  async () => {
    const { seed } = fuzzed(1);
    let sent = 0;
    for (let scans = 0; sent < objects; scans += 1) {
      const rate = [0.02, 0.2, 0.6][scans % 3] ?? 1;
      const entriesPerList = Math.min(objects - sent, objectsPerScan) / 12;
      const { idp, org } = await startOrg({ seed: seed + scans, rate, entriesPerList });
      const scan = await scanOrg(idp);
      requireSoundResults(scan);
      requireReports(scan, 20);
      sent += org.sent();
      await idp.stop();
    }
    expect(sent).toBeGreaterThanOrEqual(objects);
  },
  30_000 + objects,
);

test.each([0.05, 0.3, 1])(
  "with %d of all fields replaced, all of it is reported, and the same again from a file",
  async (rate) => {
    const { idp } = await startOrg({ seed: fuzzed(1).seed, rate, entriesPerList: 20 });
    const scan = await scanOrg(idp);
    requireSoundResults(scan);
    requireReports(scan);
    await requireSameFromFile(scan);
  },
);

test("sixteen times longer texts take sixteen times as long at most", async () => {
  const timeOf = async (length: number) => {
    const texts = ["\0", ".", "/", " ", "\ud800", "a\n", "<b>", "'+"].map((unit) => unit.repeat(length / unit.length));
    const source = createHostileSource({ seed: fuzzed(1).seed, rate: 1, ids });
    let next = 0;
    const org = createHostileOrg({
      source: { ...source, like: (entry) => withTexts(entry, () => texts[next++ % texts.length] ?? "") },
      entriesPerList: 10,
    });
    const idp = await createScriptedIdp({ otherwise: org.otherwise });
    owned.push(() => idp.stop());
    const before = process.cpuUsage();
    requireSoundResults(await scanOrg(idp));
    return process.cpuUsage(before).user / 1000;
  };
  await timeOf(8);
  const shortMs = await timeOf(4000);
  expect(await timeOf(64_000)).toBeLessThan(16 * shortMs + 2000);
});

/** Each text of an entry is another; its shape stays. */
function withTexts(value: unknown, text: () => string): unknown {
  if (typeof value === "string") return text();
  if (Array.isArray(value)) return value.map((item) => withTexts(item, text));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withTexts(inner, text)]));
}
