import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { printable } from "../../command_line/terminal.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { readRevision } from "../revisions/read_stig_file.ts";
import { NotProven } from "../signing/envelope.ts";
import { readVerifier } from "../signing/keys.ts";
import { verifyPath, type Expected } from "../signing/verify.ts";

export interface VerifyFlags {
  readonly key?: string;
  readonly orgUrl?: string;
  readonly since?: string;
  /** The file of another revision of the STIG. */
  readonly benchmark?: string;
}

/** `verify`: exit code 0, or 1 with the first thing that does not hold. */
export async function verifyCommand(path: string, flags: VerifyFlags, io: CommandIo): Promise<number> {
  const { key } = flags;
  if (key === undefined)
    throw new UsageError([
      "--key FILE is missing: expected the signer's public key; a key inside the files would prove nothing",
    ]);
  const expected = { ...readExpected(flags), revision: await readRevision(flags.benchmark) };
  const verifier = await readVerifier(key);
  try {
    const lines = await verifyPath(path, verifier, expected);
    io.stdout(`${lines.map((line) => printable(line)).join("\n")}\nVerified\n`);
    return exitCodes.ok;
  } catch (error) {
    if (!(error instanceof NotProven)) throw error;
    io.stdout(`NOT VERIFIED: ${printable(error.message)}\n`);
    return exitCodes.findings;
  }
}

function readExpected({ orgUrl, since }: VerifyFlags): Omit<Expected, "revision"> {
  const problems = [
    ...(orgUrl !== undefined && !URL.canParse(orgUrl)
      ? [`--org-url ${JSON.stringify(orgUrl)}: expected an address such as https://acme.okta.com`]
      : []),
    ...(since !== undefined && Number.isNaN(Date.parse(since))
      ? [`--since ${JSON.stringify(since)}: expected a time such as 2026-01-31 or 2026-01-31T12:00:00Z`]
      : []),
  ];
  if (problems.length > 0) throw new UsageError(problems);
  return { orgUrl: orgUrl ?? null, since: since ?? null };
}
