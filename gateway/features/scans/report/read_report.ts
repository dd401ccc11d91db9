import { pause } from "../../../../shared/abortable.ts";
import { AppError } from "../../../../shared/app_error.ts";
import { toHex } from "../../../../shared/hex.ts";
import { isJsonObject } from "../../../../shared/json.ts";
import { bodyTooLarge } from "../../../../shared/read_bounded.ts";
import { findingSchema, reportSchema } from "../../../../shared/schemas/report.ts";
import { parseBody, requireJson } from "../../../http/body.ts";
import { accountOf } from "../../../http/budget.ts";
import { InvalidBody } from "../../../http/problem.ts";
import { createReportSplitter, noJson } from "./report_splitter.ts";

const maxReportBytes = 32 * 1024 * 1024;
/** Compressed; as text it passes through a database driver that takes 10 MiB. */
const partBytes = 256 * 1024;
const digestBlockBytes = 1024 * 1024;
/** Checked in one go: a client that sends faster than its report is checked leaves others their turns of the event loop. */
const turnBytes = 32 * 1024;

/** A report that is valid, as it is stored. */
export interface ReceivedReport {
  /** For the body; the same bytes have the same digest. */
  readonly digest: string;
  /** For the body. */
  readonly sizeBytes: number;
  /** Gzip. */
  readonly parts: readonly Uint8Array[];
}

/**
 * Reads, checks and compresses the report of a scan while it arrives: neither its text nor its findings are ever whole in
 * memory. Rejects with `AppError` `too_large`, `malformed` or `invalid`, or `HttpRefusal`.
 */
export async function readReport(request: Request, scanId: string): Promise<ReceivedReport> {
  requireJson(request.headers);
  const declared = Number(request.headers.get("content-length") ?? Number.NaN);
  if (declared > maxReportBytes) throw bodyTooLarge(maxReportBytes);
  const account = accountOf(request);
  // What cannot be compressed is kept whole until it is stored.
  if (Number.isInteger(declared)) account.takeBody(declared);
  const splitter = createReportSplitter((text, pointer) => void parseBody(findingSchema, parseJson(text), pointer));
  const digest = createBlockDigest();
  const compression = new CompressionStream("gzip");
  const compressed = collect(compression.readable);
  // Rejects when the body is refused, which is what the caller is told.
  compressed.catch(() => {});
  const writer = compression.writable.getWriter();
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  let sizeBytes = 0;
  let pausedAtBytes = 0;
  const chunks = chunksOf(request);
  try {
    for (;;) {
      const { done, value: chunk } = await chunks.next();
      if (done === true) break;
      sizeBytes += chunk.length;
      if (!Number.isInteger(declared)) account.takeBody(chunk.length);
      requireUtf8(utf8, chunk);
      splitter.write(chunk);
      await digest.add(chunk);
      await writer.write(chunk);
      if (sizeBytes - pausedAtBytes < turnBytes) continue;
      pausedAtBytes = sizeBytes;
      await pause(0, []);
    }
    requireUtf8(utf8);
    checkReport(splitter.end(), scanId);
    await writer.close();
  } catch (error) {
    await writer.abort(error).catch(() => {});
    // A client that still sends would take a closed connection for an outage, and not read why.
    while ((await chunks.next().catch(() => ended)).done !== true);
    throw error;
  }
  return { digest: await digest.end(), sizeBytes, parts: await compressed };
}

const ended = { done: true } as const;

/** The body, at most `maxReportBytes` of it. */
async function* chunksOf(request: Request): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const reader = request.body?.getReader();
  if (reader === undefined) return;
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw new AppError("malformed", "The body ended before it was complete", { cause });
    });
    if (done) return;
    length += value.byteLength;
    if (length > maxReportBytes) {
      void reader.cancel().catch(() => {}); // The refusal is what counts; the sender may be gone already.
      throw bodyTooLarge(maxReportBytes);
    }
    yield value;
  }
}

function requireUtf8(decoder: TextDecoder, chunk?: Uint8Array): void {
  try {
    if (chunk === undefined) decoder.decode();
    else decoder.decode(chunk, { stream: true });
  } catch {
    throw noJson();
  }
}

function checkReport({ text, findingCount }: { readonly text: string; readonly findingCount: number }, scanId: string) {
  const report = parseJson(text);
  let leftOut = 0;
  for (const check of listOf(report, "checks")) {
    const findings = listOf(check, "findings");
    const others = findings.filter((finding) => finding !== 0);
    leftOut += findings.length - others.length;
    if (others.length < findings.length) Object.assign(check as object, { findings: others });
  }
  const { scan } = parseBody(reportSchema, report);
  // A number where a finding should be, or a list that stands there twice.
  if (leftOut !== findingCount)
    throw new InvalidBody([{ pointer: "/checks", detail: "expected findings that are objects" }]);
  if (scan.id === scanId) return;
  throw new InvalidBody([{ pointer: "/scan/id", detail: "is not the scan of the path" }]);
}

function listOf(value: unknown, name: string): unknown[] {
  const list = isJsonObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list : [];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw noJson();
  }
}

async function collect(stream: ReadableStream<Uint8Array>): Promise<readonly Uint8Array[]> {
  const parts: Uint8Array[] = [];
  const reader = stream.getReader();
  let part = new Uint8Array(partBytes);
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    for (let from = 0; from < value.length;) {
      const piece = value.subarray(from, from + partBytes - length);
      part.set(piece, length);
      length += piece.length;
      from += piece.length;
      if (length < partBytes) continue;
      parts.push(part);
      part = new Uint8Array(partBytes);
      length = 0;
    }
  }
  if (length > 0) parts.push(part.slice(0, length));
  return parts;
}

/** WebCrypto digests no stream: the digest of the digests of blocks of a fixed size. */
function createBlockDigest() {
  const block = new Uint8Array(digestBlockBytes);
  let length = 0;
  let digests = "";
  const flush = async () => {
    digests += toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", block.subarray(0, length))));
    length = 0;
  };
  return {
    async add(chunk: Uint8Array): Promise<void> {
      for (let from = 0; from < chunk.length;) {
        const piece = chunk.subarray(from, from + digestBlockBytes - length);
        block.set(piece, length);
        length += piece.length;
        from += piece.length;
        if (length === digestBlockBytes) await flush();
      }
    },
    async end(): Promise<string> {
      await flush();
      return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(digests))));
    },
  };
}
