import { expect, it } from "vitest";
import type { ChangeLine } from "../../../scanner/follow/changes.ts";
import { chainProblems, differences, followedVerdicts, freshVerdicts } from "./followed_state.ts";
import { createRandom } from "../../support/random.ts";
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
