import { join } from "node:path";
import { publishCredentials } from "../../practice_org/auth/credentials.ts";
import {
  createPracticeOrg,
  type PracticeOrg,
  type PracticeOrgOptions,
} from "../../practice_org/create_practice_org.ts";
import { callCommand } from "./called_command.ts";
import type { Outcome } from "./command_line.ts";
import { temporaryFolder } from "./temporary_folder.ts";

/** A practice org, and the variables with which a scan reads it. */
export interface CommandOrg extends AsyncDisposable {
  readonly org: PracticeOrg;
  readonly env: Readonly<Record<string, string>>;
}

export async function startCommandOrg(folder: string, options: Partial<PracticeOrgOptions> = {}): Promise<CommandOrg> {
  const org = await createPracticeOrg({ profile: { name: "typical" }, role: "super", ...options });
  const { privateKeyFile } = await publishCredentials(org, join(folder, `org-${new URL(org.url).port}`));
  return {
    org,
    env: { IDP_ORG_URL: org.url, IDP_CLIENT_ID: org.clientId, IDP_PRIVATE_KEY_FILE: privateKeyFile },
    [Symbol.asyncDispose]: () => org.stop(),
  };
}

/** A folder, and a typical org that commands in it scan. */
export interface OrgStage extends CommandOrg {
  readonly path: string;
  /** Runs the command line in the folder, with the credentials of the org in its environment. */
  run(...args: readonly string[]): Promise<Outcome>;
}

export async function openOrgStage(): Promise<OrgStage> {
  const folder = await temporaryFolder();
  const org = await startCommandOrg(folder.path);
  return {
    ...org,
    path: folder.path,
    run: (...args) => callCommand(args, { cwd: folder.path, env: org.env }),
    async [Symbol.asyncDispose]() {
      await org[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
