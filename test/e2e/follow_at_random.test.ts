import { expect, onTestFinished, test } from "vitest";
import { createPracticeOrg } from "../../practice_org/create_practice_org.ts";
import { startCommand, temporaryFolder } from "../support/command_line.ts";
import { createFollowProcess } from "../support/follow_process.ts";
import { createRandom } from "../support/random.ts";
import { followAtRandom, passingMishaps } from "../support/random_follow.ts";

const changes = process.env["NIGHTLY"] === "1" ? 60 : 24;

test("after random changes with faults, restarts and kill -9 the followed state is that of a fresh scan, without a hole on the way", async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const org = await createPracticeOrg({ profile: { name: "typical" }, role: "super", rateLimit: { buckets: {} } });
  onTestFinished(() => org.stop());
  const env = { IDP_ORG_URL: org.url, IDP_CLIENT_ID: org.clientId, IDP_PRIVATE_KEY: org.privateKeyPem };
  const args = ["follow", "--format", "ndjson", "--interval", "2"];
  const follower = createFollowProcess(() => startCommand(args, { cwd: folder.path, env }));
  await follower.until((lines) => lines.length > 0);
  const seed = Number(process.env["FOLLOW_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`FOLLOW_SEED=${seed}`);
  const outcome = await followAtRandom({
    org,
    follower,
    changes,
    endsAfter: 6,
    mishaps: passingMishaps,
    pauseMs: 300,
    random: createRandom(seed),
  });
  await follower.end("SIGTERM");
  expect(outcome.problems, `seed ${seed}\n${follower.said()}`).toEqual([]);
  expect(outcome.kills + outcome.restarts).toBe(changes / 6);
  expect(outcome.lines).toBeGreaterThan(changes / 12);
  // Above what the follower is given to catch up, so that what differs is named.
}, 240_000);
