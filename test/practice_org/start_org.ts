import { afterAll } from "vitest";
import {
  createPracticeOrg,
  type PracticeOrg,
  type PracticeOrgOptions,
} from "../../practice_org/create_practice_org.ts";
import { createKeyPair, type PracticeKeyPair } from "../../practice_org/auth/credentials.ts";

const running: PracticeOrg[] = [];
let keyPair: Promise<PracticeKeyPair> | undefined;

afterAll(async () => {
  await Promise.all(running.map((org) => org.stop()));
});

/** Stopped when the test file ends. All orgs of a file share one client key: making one takes a while. */
export async function startOrg(options: Partial<PracticeOrgOptions> = {}): Promise<PracticeOrg> {
  keyPair ??= createKeyPair();
  const org = await createPracticeOrg({
    profile: { name: "typical" },
    role: "super",
    keyPair: await keyPair,
    ...options,
  });
  running.push(org);
  return org;
}
