import { createReadStream } from "node:fs";
import { access, constants, mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { UsageError } from "./usage_error.ts";

/** A file that is there and is no text of the expected size; its message is one sentence without the file's name. */
export class FileContentError extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = "FileContentError";
  }
}

/** Reads a UTF-8 file (or pipe), and no more of it than that. Rejects with `FileContentError`, or as Node's own reading does. */
export async function readText(path: string, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new FileContentError(`it is too large: expected ${maxBytes / 1_048_576} MiB at most`);
    chunks.push(chunk);
  }
  try {
    // Takes a byte order mark off, which Windows' own tools write.
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    if (cause instanceof TypeError) throw new FileContentError("it is not UTF-8 text");
    throw cause;
  }
}

/** Checks before a scan that its results can be written after it. Throws `UsageError` naming every place that cannot. */
export async function requireWritable(targets: {
  readonly directory?: string | null;
  readonly file?: string | null;
}): Promise<void> {
  const problems: string[] = [];
  if (isNamed(targets.directory)) {
    const problem = await problemOf(async (path) => {
      await mkdir(path, { recursive: true });
      await access(path, constants.W_OK);
    }, targets.directory);
    if (problem !== null) problems.push(`--output ${JSON.stringify(targets.directory)}: ${problem}`);
  }
  if (isNamed(targets.file)) {
    const problem = await problemOf(async (path) => {
      await access(dirname(path), constants.W_OK);
      const isDirectory = await stat(path).then(
        (entry) => entry.isDirectory(),
        () => false,
      );
      if (isDirectory) throw Object.assign(new Error("is a directory"), { code: "EISDIR" });
    }, targets.file);
    if (problem !== null) problems.push(`--save-artifacts ${JSON.stringify(targets.file)}: ${problem}`);
  }
  if (problems.length > 0) throw new UsageError(problems);
}

function isNamed(path: string | null | undefined): path is string {
  return path !== null && path !== undefined;
}

async function problemOf(attempt: (path: string) => Promise<void>, path: string): Promise<string | null> {
  try {
    await attempt(path);
    return null;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    return `cannot be written (${code})`;
  }
}
