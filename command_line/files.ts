import { randomUUID } from "node:crypto";
import { createReadStream, type Stats } from "node:fs";
import { access, constants, lstat, mkdir, open, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, normalize } from "node:path";
import { getSystemErrorMessage } from "node:util";
import { gunzipSync } from "node:zlib";
import { errorCode, hasCode, readProblem } from "../shared/error_code.ts";
import { toLine } from "../shared/text.ts";
import { ContentError, UsageError } from "../shared/usage_error.ts";

/** The name of a file that stands for stdin or stdout. */
export const standardStream = "-";

/** Reads a file (or pipe; `-` is stdin), and no more of it than that. Rejects with `ContentError`, or as Node's own reading does. */
async function readBytes(path: string, maxBytes: number): Promise<Buffer> {
  if (path !== standardStream) return unpacked(await readAll(createReadStream(path), maxBytes), maxBytes);
  standardInput ??= readAll(process.stdin, maxBytes);
  return unpacked(await standardInput, maxBytes);
}

/** Kept, because it can be read once: `report --fresh` needs its decisions twice, and so do several organizations. */
let standardInput: Promise<Buffer> | null = null;

async function readAll(input: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new ContentError([`it is too large: expected ${sizeText(maxBytes)} at most`]);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Evidence and reports of kept runs are compressed. */
function unpacked(bytes: Buffer, maxBytes: number): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (hasCode(error, "ERR_BUFFER_TOO_LARGE"))
      throw new ContentError([`it is too large: expected ${sizeText(maxBytes)} at most`]);
    throw new ContentError(["its gzip data is broken"]);
  }
}

/** Reads the file as UTF-8. */
export async function readText(path: string, maxBytes: number): Promise<string> {
  const bytes = await readBytes(path, maxBytes);
  try {
    // Takes a byte order mark off, which Windows' own tools write.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    if (cause instanceof TypeError) throw new ContentError(["it is not UTF-8 text"]);
    throw cause;
  }
}

function sizeText(bytes: number): string {
  return bytes < 1_048_576 ? `${bytes / 1024} KiB` : `${bytes / 1_048_576} MiB`;
}

/** A file, and the flag, variable or place in the configuration that names it. */
export interface NamedFile {
  readonly option: string;
  readonly file: string;
}

export interface OptionFile extends NamedFile {
  readonly maxBytes: number;
}

/** Result of `parse` for the file. Throws `UsageError` where it cannot be read or used. */
export async function readOptionFile<Value>(source: OptionFile, parse: (text: string) => Value): Promise<Value> {
  const text = await reading(source, readText(source.file, source.maxBytes));
  return usingFile(source, () => parse(text));
}

/** Bounds of a message: a file may hold a problem in every entry. */
const maxProblems = 10;
const maxProblemLength = 500;

/** Names the file in the `ContentError` that `use` throws: one line with its problems. */
export async function usingFile<Value>({ option, file }: NamedFile, use: () => Value): Promise<Awaited<Value>> {
  try {
    return await use();
  } catch (error) {
    if (!(error instanceof ContentError)) throw error;
    const { problems } = error;
    const named = problems.slice(0, maxProblems).map((problem) => toLine(problem, maxProblemLength));
    if (problems.length > maxProblems) named.push(`and ${problems.length - maxProblems} more`);
    throw new UsageError([`Cannot use ${option} ${JSON.stringify(file)}: ${named.join("; ")}`], { cause: error });
  }
}

/** The bytes of the file. Throws `UsageError` where it cannot be read. */
export function readOptionBytes(source: OptionFile): Promise<Buffer> {
  return reading(source, readBytes(source.file, source.maxBytes));
}

async function reading<Value>({ option, file }: OptionFile, work: Promise<Value>): Promise<Value> {
  return work.catch((error: unknown) => {
    const isFileError = error instanceof Error && "syscall" in error;
    const problem = error instanceof ContentError ? error.message : isFileError ? readProblem(error) : null;
    if (problem === null) throw error;
    throw new UsageError([`Cannot read ${option} ${JSON.stringify(file)}: ${problem}`], { cause: error });
  });
}

/**
 * Makes a directory and those above it. Node's own `recursive` is not used: where a parent that is there answers ENOENT, as in
 * `/proc` or in a working directory that was removed, it never settles and keeps a core busy.
 */
export async function makeDirectory(path: string, mode?: number): Promise<void> {
  // Relative paths stay relative: the name of the working directory may be no UTF-8.
  const whole = normalize(path);
  const missing: string[] = [];
  for (let at = whole; (await statOrNull(stat(at))) === null && dirname(at) !== at; at = dirname(at))
    missing.unshift(at);
  for (const directory of missing) {
    await mkdir(directory, mode).catch((error: unknown) => {
      // Another process has made it in the meantime.
      if (!hasCode(error, "EEXIST")) throw error;
    });
    // Keys and state are in it, which `git add` must not take.
    if (basename(directory) === ".scanstream") await writeFile(join(directory, ".gitignore"), "*\n");
  }
  // A file in its place: refused by the system itself.
  if (!(await stat(whole)).isDirectory()) await mkdir(whole);
}

/**
 * Checks before a scan that its results can be written after it, and makes `directory`. Throws `UsageError` naming every
 * place that cannot be written where that is `directory`, each file in it, or `file`.
 */
export async function requireWritable(targets: {
  readonly directory?: NamedFile | null;
  /** Names of files in `directory`. */
  readonly fileNames?: readonly string[];
  readonly file?: NamedFile | null;
}): Promise<void> {
  const { directory = null, fileNames = [], file = null } = targets;
  const requireDirectory = async (path: string) => {
    await makeDirectory(path);
    await access(path, constants.W_OK);
  };
  const ofDirectory = directory && (await problemOf(directory, () => requireDirectory(directory.file)));
  const places =
    directory === null || ofDirectory !== null
      ? []
      : fileNames.map((name) => ({ ...directory, file: join(directory.file, name) }));
  const found = await Promise.all(places.map((place) => problemOf(place, () => requireFile(place.file))));
  const ofFiles = found.filter((problem) => problem !== null);
  const ofFile = file && (await problemOf(file, () => requireFile(file.file)));
  const others = [ofDirectory, ofFile].filter((problem) => problem !== null);
  // One of several files keeps nothing else from being done; what could not be written is said then.
  const isRefused = others.length > 0 || (fileNames.length > 0 && ofFiles.length === fileNames.length);
  if (isRefused) throw new UsageError([...ofFiles, ...others]);
}

/** Opening detects more than the permissions show: a directory, a read-only disk, a running program. */
async function requireFile(path: string): Promise<void> {
  const entry = await statOrNull(stat(path));
  if (entry === null) await access(dirname(path), constants.W_OK);
  // A reader of a named pipe would see it closed, and exit.
  else if (entry.isFIFO()) await access(path, constants.W_OK);
  else await (await open(path, constants.O_WRONLY)).close();
}

/**
 * Writes a file, or leaves the one that was there: never a half of it. Resolves with null, or with one line for a person
 * that says why it could not be written; rejects when the error is not the system's. `mode`: permissions of a new file.
 */
export function writeWhole(
  target: NamedFile,
  content: string | Uint8Array,
  mode: number = 0o666,
): Promise<string | null> {
  return problemOf(target, () => replaceFile(target.file, content, mode));
}

async function replaceFile(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const entry = await statOrNull(lstat(path));
  if (entry !== null && !entry.isFile()) return writeInPlace(path, content);
  const temporary = join(dirname(path), `.scanstream-${randomUUID()}`);
  try {
    await writeFile(temporary, content, { flag: "wx", flush: true, mode: entry?.mode ?? mode });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    // A file that is itself a mount, or is writable in a directory that is not.
    if (entry !== null && hasCode(error, "EACCES", "EBUSY", "EPERM", "EROFS")) return writeFile(path, content);
    throw error;
  }
}

/** A device, a pipe or a link stays what it is. */
async function writeInPlace(path: string, content: string | Uint8Array): Promise<void> {
  // Opening a named pipe without a reader would block indefinitely; opened like this it fails, and after that it does not block.
  const probe = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK);
  try {
    await writeFile(path, content);
  } finally {
    await probe.close();
  }
}

function statOrNull(entry: Promise<Stats>): Promise<Stats | null> {
  return entry.catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  });
}

async function problemOf(target: NamedFile, work: () => Promise<unknown>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    return explainWriteError(`${target.option} ${JSON.stringify(target.file)}`, error);
  }
}

/** One line for a person. Throws `error` again when it is not one of the system's. */
export function explainWriteError(what: string, error: unknown): string {
  if (!(error instanceof Error && "errno" in error && typeof error.errno === "number")) throw error;
  const code = errorCode(error) ?? "unknown";
  return `Cannot write ${what}: ${writeProblems[code] ?? `${getSystemErrorMessage(error.errno)} (${code})`}`;
}

const writeProblems: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EEXIST: "it is a file; expected a directory",
  EISDIR: "it is a directory; expected a file",
  ENOENT: "the directory does not exist",
  EFBIG: "the file is too large",
  ENAMETOOLONG: "the name is too long",
  ENOSPC: "no space left on device",
  EPIPE: "the program that reads it ended",
  ENOTDIR: "a part of its path is a file; expected a directory",
  ENXIO: "it is a pipe without a reader",
  EPERM: "permission denied",
  EROFS: "the disk is read-only",
};

/** Tells one content of a file from another; null for anything but a file. */
export async function stampOf(path: string): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  return found?.isFile() === true ? `${found.mtimeMs} ${found.size} ${found.ino}` : null;
}
