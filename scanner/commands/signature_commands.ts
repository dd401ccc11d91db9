import { access, rm, writeFile } from "node:fs/promises";
import type { CommandIo } from "../../command_line/command_io.ts";
import { exitCodes } from "../../command_line/exit_code.ts";
import { explainWriteError } from "../../command_line/files.ts";
import { printable } from "../../command_line/terminal.ts";
import { hasCode } from "../../shared/error_code.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { knownRevisions } from "../revisions/revision_store.ts";
import { NotProven } from "../signing/envelope.ts";
import { createKeyPair, readVerifier, type KeyAlgorithm } from "../signing/keys.ts";
import { verifyPath, type Expected } from "../signing/verify.ts";

export interface KeygenFlags {
  readonly output?: string;
  readonly algorithm: KeyAlgorithm;
}

/** `keygen`: a new key pair, which never replaces another one. */
export async function keygenCommand({ output, algorithm }: KeygenFlags, io: CommandIo): Promise<number> {
  if (output === undefined || output === "")
    throw new UsageError([
      "--output FILE is missing: expected a file for the private key; the public key goes to FILE.pub",
    ]);
  const publicFile = `${output}.pub`;
  for (const path of [output, publicFile]) {
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere)
      throw new UsageError([
        `--output ${JSON.stringify(output)}: ${path} exists, and keygen never replaces a key: choose another name`,
      ]);
  }
  const { privateKey, publicKey } = createKeyPair(algorithm);
  await write(output, privateKey, 0o600);
  await write(publicFile, publicKey, 0o644).catch(async (error: unknown) => {
    // Half a pair is of no use.
    await rm(output, { force: true });
    throw error;
  });
  io.terminal.write(
    `Wrote ${printable(output)} (the private key: keep it secret) and ${printable(publicFile)} (for those who verify)\n`,
  );
  return exitCodes.ok;
}

async function write(path: string, text: string, mode: number): Promise<void> {
  await writeFile(path, text, { flag: "wx", mode }).catch((error: unknown) => {
    throw new UsageError([explainWriteError(`--output ${JSON.stringify(path)}`, error)]);
  });
}

export interface VerifyFlags {
  readonly key?: string;
  readonly orgUrl?: string;
  readonly since?: string;
  readonly writePae?: string;
}

/** `verify`: exit code 0, or 1 with the first thing that does not hold. */
export async function verifyCommand(path: string, flags: VerifyFlags, io: CommandIo): Promise<number> {
  const { key, writePae } = flags;
  if (key === undefined)
    throw new UsageError([
      "--key FILE is missing: expected the signer's public key; a key inside the files would prove nothing",
    ]);
  const expected = { ...readExpected(flags), revisions: await knownRevisions(io.env) };
  const verifier = await readVerifier(key);
  try {
    const { lines, pae, signature } = await verifyPath(path, verifier, expected);
    if (writePae !== undefined) {
      await replace(writePae, pae);
      await replace(`${writePae}.sig`, signature);
    }
    io.stdout(`${lines.map((line) => printable(line)).join("\n")}\nVerified\n`);
    return exitCodes.ok;
  } catch (error) {
    if (!(error instanceof NotProven)) throw error;
    io.stdout(`NOT VERIFIED: ${printable(error.message)}\n`);
    return exitCodes.findings;
  }
}

function readExpected({ orgUrl, since }: VerifyFlags): Omit<Expected, "revisions"> {
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

async function replace(path: string, bytes: Uint8Array): Promise<void> {
  await writeFile(path, bytes).catch((error: unknown) => {
    if (hasCode(error, "ENOENT", "EACCES", "EISDIR", "EROFS", "ENOSPC", "ENOTDIR"))
      throw new UsageError([explainWriteError(`--write-pae ${JSON.stringify(path)}`, error)]);
    throw error;
  });
}
