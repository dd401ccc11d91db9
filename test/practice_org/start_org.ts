import {
  createPracticeOrg,
  type PracticeOrg,
  type PracticeOrgOptions,
} from "../../practice_org/create_practice_org.ts";
import { createKeyPair, type PracticeKeyPair } from "../../practice_org/auth/credentials.ts";
import { cleanUp } from "../support/clean_up.ts";

let keyPair: Promise<PracticeKeyPair> | undefined;

/** Stopped when the test or its file ends. All orgs share one client key: making one takes a while. */
export async function startOrg(options: Partial<PracticeOrgOptions> = {}): Promise<PracticeOrg> {
  keyPair ??= createKeyPair();
  const starting = keyPair.then((keys) =>
    createPracticeOrg({ profile: { name: "typical" }, role: "super", keyPair: keys, ...options }),
  );
  cleanUp(async () => (await starting).stop());
  return starting;
}
