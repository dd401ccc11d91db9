import { publishCredentials } from "../../practice_org/auth/credentials.ts";
import type { PracticeOrg, PracticeOrgOptions } from "../../practice_org/create_practice_org.ts";
import { startOrg } from "../practice_org/start_org.ts";
import { callCommand } from "./called_command.ts";
import { ownFolder } from "./clean_up.ts";
import type { Outcome } from "./command_line.ts";

/** A practice org, and the variables with which a scan reads it. */
export interface CommandOrg {
  readonly org: PracticeOrg;
  readonly env: Readonly<Record<string, string>>;
}

export async function startCommandOrg(options: Partial<PracticeOrgOptions> = {}): Promise<CommandOrg> {
  const [org, folder] = await Promise.all([startOrg(options), ownFolder()]);
  const { privateKeyFile } = await publishCredentials(org, folder);
  return {
    org,
    env: { IDP_ORG_URL: org.url, IDP_CLIENT_ID: org.clientId, IDP_PRIVATE_KEY_FILE: privateKeyFile },
  };
}

/** A folder, and an org that commands in it scan. */
export interface OrgStage extends CommandOrg {
  readonly path: string;
  /** Runs the command line in the folder, with the credentials of the org in its environment. */
  run(...args: readonly string[]): Promise<Outcome>;
}

export async function openOrgStage(options: Partial<PracticeOrgOptions> = {}): Promise<OrgStage> {
  const [path, { org, env }] = await Promise.all([ownFolder(), startCommandOrg(options)]);
  return { org, env, path, run: (...args) => callCommand(args, { cwd: path, env }) };
}
