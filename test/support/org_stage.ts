import { publishCredentials } from "../../practice_org/auth/credentials.ts";
import type { PracticeOrgOptions } from "../../practice_org/create_practice_org.ts";
import { startOrg } from "../practice_org/start_org.ts";
import { callCommand } from "./called_command.ts";
import { ownFolder } from "./clean_up.ts";

export type CommandOrg = Awaited<ReturnType<typeof startCommandOrg>>;

/** A practice org, and the variables with which a scan reads it. */
export async function startCommandOrg(options: Partial<PracticeOrgOptions> = {}) {
  const [org, folder] = await Promise.all([startOrg(options), ownFolder()]);
  const { privateKeyFile } = await publishCredentials(org, folder);
  return {
    org,
    env: { IDP_ORG_URL: org.url, IDP_CLIENT_ID: org.clientId, IDP_PRIVATE_KEY_FILE: privateKeyFile },
  };
}

/** A folder, and an org that commands in it scan: `run` has the credentials of the org in its environment. */
export async function openOrgStage(options: Partial<PracticeOrgOptions> = {}) {
  const [path, { org, env }] = await Promise.all([ownFolder(), startCommandOrg(options)]);
  return { org, env, path, run: (...args: readonly string[]) => callCommand(args, { cwd: path, env }) };
}
