import { callCommand } from "./called_command.ts";
import { join } from "node:path";
import { publishCredentials } from "../../practice_org/auth/credentials.ts";
import { createPracticeOrg } from "../../practice_org/create_practice_org.ts";
import type { Outcome } from "./command_line.ts";
import { temporaryFolder } from "./temporary_folder.ts";

export interface OrgStage extends AsyncDisposable {
  readonly path: string;
  /** Runs the command line in the folder, with the credentials of the org in its environment. */
  run(...args: readonly string[]): Promise<Outcome>;
}

/** A folder, and a typical org that commands in it scan. */
export async function openOrgStage(): Promise<OrgStage> {
  const folder = await temporaryFolder();
  const org = await createPracticeOrg({ profile: { name: "typical" }, role: "super" });
  const { privateKeyFile } = await publishCredentials(org, join(folder.path, "org"));
  const env = { IDP_ORG_URL: org.url, IDP_CLIENT_ID: org.clientId, IDP_PRIVATE_KEY_FILE: privateKeyFile };
  return {
    path: folder.path,
    run: (...args) => callCommand(args, { cwd: folder.path, env }),
    async [Symbol.asyncDispose]() {
      await org.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}
