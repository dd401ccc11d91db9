import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { followDecisions } from "../../../scanner/decisions/followed_decisions.ts";
import type { FetchedDecision } from "../../../scanner/decisions/decision_sources.ts";
import { stigRuleNames } from "../../../shared/rule_names.ts";
import { aCheckResult } from "../../support/report_builders.ts";
import { ownFolder } from "../../support/clean_up.ts";

const check = "signon_global_session_idle_timeout_15min";
const waiver = { check, reason: "accepted", by: "A. Person", expires: "2026-11-21" };
const noon = Date.parse("2026-11-21T12:00:00Z");

async function follow(text: string, fetch: (() => Promise<readonly FetchedDecision[]>) | null = null) {
  const file = join(await ownFolder(), "waivers.json");
  await writeFile(file, text);
  const said: string[] = [];
  const decisions = await followDecisions({
    file: { option: "--decisions", file },
    fetch,
    rules: stigRuleNames,
    say: (line) => void said.push(line),
    nowMs: noon,
  });
  return {
    said,
    decisions,
    write: (changed: string) => writeFile(file, changed),
    remove: () => rm(file),
    isWaived: (nowMs = noon) => decisions.apply([aCheckResult()], nowMs)[0]?.findings[0]?.waived,
  };
}

test("a file is read again when it changes; a broken or deleted one is said once, and the old decisions stay", async () => {
  const followed = await follow(JSON.stringify([waiver]));
  const { decisions, isWaived, said, write, remove } = followed;
  await write('[{ "check": ');
  expect([await decisions.refresh(noon), await decisions.refresh(noon), isWaived()]).toEqual([false, false, true]);
  expect(said).toEqual([expect.stringMatching(/waivers\.json.*cut short.*stay in force/)]);
  await remove();
  expect([await decisions.refresh(noon), await decisions.refresh(noon), isWaived()]).toEqual([false, false, true]);
  expect(said.slice(1)).toEqual([expect.stringContaining("stay in force")]);
  await write("[]");
  expect([await decisions.refresh(noon), isWaived()]).toEqual([true, false]);
});

test("the gateway is asked once a minute; while it cannot answer, its decisions stay", async () => {
  const fetched = { ...waiver, kind: "waiver", resource: null, status: null, org_url: null } as const;
  const answers: (readonly FetchedDecision[] | Error)[] = [[fetched], new Error("503"), new Error("503"), []];
  let asked = 0;
  const followed = await follow("[]", async () => {
    const answer = answers[asked++] ?? [];
    if (answer instanceof Error) throw answer;
    return answer;
  });
  const { decisions, isWaived, said } = followed;
  const minute = async (count: number) => {
    await decisions.refresh(noon + count * 60_000);
    await decisions.refresh(noon + count * 60_000 + 59_999);
    return [asked, isWaived()];
  };
  expect([await minute(0), await minute(1), await minute(2)]).toEqual([
    [1, true],
    [2, true],
    [3, true],
  ]);
  expect(said).toEqual([expect.stringContaining("503")]);
  expect(await minute(3)).toEqual([4, false]);
});
