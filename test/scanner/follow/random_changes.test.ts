import { expect, it } from "vitest";
import type { PracticeOrg } from "../../../practice_org/create_practice_org.ts";
import type { ChangeLine } from "../../../scanner/follow/changes.ts";
import { createRandom } from "../../support/random.ts";
import { scanPracticeOrg } from "../../support/scan_practice_org.ts";
import { setUpOrg } from "./followed_org.ts";

const changeCount = 40;

it("the followed state equals a fresh scan after random changes and restarts, and each change is explained", async () => {
  const { org, start } = await setUpOrg({ profile: { name: "typical" } });
  const random = createRandom(7);
  const all: ChangeLine[] = [];
  let follower = start({ reconcileMs: 3_600_000 });
  await follower.settled();
  all.push(...follower.lines);
  let moved = 0;
  for (let change = 0; change < changeCount; change++) {
    const name = org.changeAtRandom(() => random());
    if (change % 20 === 19) {
      await follower.stop();
      follower = start();
      await follower.settled();
      all.push(...follower.lines);
      continue;
    }
    const { lines, requests } = await follower.after(2000);
    all.push(...lines);
    moved += lines.length;
    expect(
      lines.filter(({ explained_by, also }) => explained_by.length + also.length === 0),
      name,
    ).toEqual([]);
    expect(requests.filter((path) => !path.startsWith("/api/v1/logs")).length, name).toBeLessThanOrEqual(8);
    if (change % 10 === 0)
      expect([name, differences(followedVerdicts(all), await freshVerdicts(org))]).toEqual([name, []]);
  }
  expect(differences(followedVerdicts(all), await freshVerdicts(org))).toEqual([]);
  expect(chainProblems(all)).toEqual([]);
  expect(moved).toBeGreaterThan(10);
  await follower.stop();
});

/** The verdict of each finding, by fingerprint. */
type Verdicts = ReadonlyMap<string, string>;

type Verdict = Exclude<ChangeLine["to"], null>;

/** Verdicts of a new scan of the org. */
async function freshVerdicts(org: PracticeOrg): Promise<Verdicts> {
  const scan = await scanPracticeOrg(org);
  return new Map(
    scan.results.flatMap(({ check, findings }) =>
      findings.map((finding) => [finding.fingerprint, textOf(check, finding)] as const),
    ),
  );
}

/** Verdicts after the changes. */
function followedVerdicts(lines: readonly ChangeLine[]): Verdicts {
  const verdicts = new Map<string, string>();
  for (const { check, fingerprint, to } of lines) {
    if (to === null) verdicts.delete(fingerprint);
    else verdicts.set(fingerprint, textOf(check, to));
  }
  return verdicts;
}

/** Differences of the two, in words. */
function differences(followed: Verdicts, fresh: Verdicts): readonly string[] {
  const fingerprints = new Set([...followed.keys(), ...fresh.keys()]);
  return [...fingerprints]
    .filter((fingerprint) => followed.get(fingerprint) !== fresh.get(fingerprint))
    .map((fingerprint) => `followed ${followed.get(fingerprint) ?? "nothing"}, is ${fresh.get(fingerprint) ?? "gone"}`);
}

/** Changes that do not begin where the one before ended, or that are neither explained nor marked as not explained. */
function chainProblems(lines: readonly ChangeLine[]): readonly string[] {
  const verdicts = new Map<string, string>();
  const problems: string[] = [];
  for (const { check, fingerprint, from, to, cause, explained_by: events } of lines) {
    const was = verdicts.get(fingerprint) ?? "nothing";
    const begins = from === null ? "nothing" : textOf(check, from);
    if (was !== begins) problems.push(`${was}, and then a change from ${begins}`);
    verdicts.set(fingerprint, to === null ? "nothing" : textOf(check, to));
    if (events.length > 0 && cause !== "log") problems.push(`${check}: ${cause} with ${events.length} events`);
    if (cause === "start" && from !== null) problems.push(`${check}: a first state after another`);
  }
  return problems;
}

function textOf(check: string, { status, reason }: Verdict): string {
  return reason === null ? `${check} ${status}` : `${check} ${status} ${reason}`;
}
