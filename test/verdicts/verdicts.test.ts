import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compareDigests, computeDigest, type Digest } from "./digest.ts";

/**
 * Compares what whole scans conclude with `digest.json`: client, collectors and checks together, by `connect` and `runScan` over
 * a `fetch` that replays.
 *
 * - 30 recorded organizations: 10 profiles, each read with 3 roles (`recorded_orgs.json.br`).
 * - 12 faults (`faults.ts`) on each of them: for three on every family of paths and the token endpoint, for each on one path, drawn.
 * - 2,000 organizations from a seeded generator (`generated_orgs.ts`).
 *
 * `npm test` scans the cases that `daily` of the digest names; with `VERDICT_CASES=all`, as `npm run test:nightly` does, all of them.
 *
 * A verdict that changes on purpose: `UPDATE_VERDICTS=1 npx vitest run test/verdicts`, and read the diff of `digest.json`.
 * To see the rows behind a hash: `VERDICT_ROWS=/tmp/before.txt npx vitest run test/verdicts` before and after, then `diff`.
 * A scan that asks for something else: `npx node test/verdicts/record_main.ts` records again.
 */

const file = join(import.meta.dirname, "digest.json");
const rowsFile = process.env["VERDICT_ROWS"];
const isUpdate = process.env["UPDATE_VERDICTS"] === "1";
const isAll = isUpdate || rowsFile !== undefined || process.env["VERDICT_CASES"] === "all";

test("every verdict is as the digest has it", { timeout: 600_000 }, async () => {
  const daily = new Set(readDigest().daily);
  const isWanted = (title: string) => isAll || daily.has(title);
  const { digest, rows } = await computeDigest(isWanted);
  const lines = [...rows].flatMap(([title, own]) => own.map((row) => `${title}: ${row}\n`));
  if (rowsFile !== undefined) writeFileSync(rowsFile, lines.join(""));
  if (isUpdate) writeFileSync(file, `${JSON.stringify(digest, null, 1)}\n`);
  const found = compareDigests(readDigest(), digest, isWanted);
  const shown = found.slice(0, 40).join("\n");
  if (found.length > 0) expect.fail(`${found.length} verdicts differ from test/verdicts/digest.json:\n${shown}`);
});

function readDigest(): Digest {
  return JSON.parse(readFileSync(file, "utf8")) as Digest;
}
