import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { printLines } from "../../command_line/terminal.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { readRevision } from "../revisions/revision.ts";
import { NotProven } from "../signing/statement.ts";
import { settingsOfSaved } from "../settings/organizations.ts";
import type { Flags } from "../settings/read_settings.ts";
import { readVerifier } from "../signing/keys.ts";
import { verifyPath } from "../signing/verify.ts";

/** `verify`: exit code 0, or 1 with the first thing that does not hold. */
export async function verifyCommand(flags: Flags, io: CommandIo, path = ""): Promise<number> {
  const settings = await settingsOfSaved("verify", flags, { io, orgUrl: null });
  const { key, expectedOrg, since } = settings;
  if (key === null)
    throw new UsageError([
      "--key FILE is missing: expected the signer's public key; a key inside the files would prove nothing",
    ]);
  const expected = { orgUrl: expectedOrg, since, revision: await readRevision(settings.benchmark) };
  const verifier = await readVerifier(key);
  try {
    printLines(io, ...(await verifyPath(path, verifier, expected)), "Verified");
    return exitCodes.ok;
  } catch (error) {
    if (!(error instanceof NotProven)) throw error;
    printLines(io, `NOT VERIFIED: ${error.message}`);
    return exitCodes.findings;
  }
}
