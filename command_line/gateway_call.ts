import * as v from "valibot";
import { pause } from "../shared/abortable.ts";
import { networkProblem } from "../shared/error_code.ts";
import { problemDetail } from "../shared/problem_detail.ts";
import { readBounded, readRefusal } from "../shared/read_bounded.ts";
import { parseRetryAfterMs } from "../shared/retry_after.ts";

/** The gateway answered, and refused. */
export class GatewayRefusal extends Error {
  readonly httpStatus: number;

  constructor(httpStatus: number, message: string) {
    super(message);
    this.name = "GatewayRefusal";
    this.httpStatus = httpStatus;
  }
}

export interface GatewayCallOptions {
  /** The gateway's address, without a path. */
  readonly url: string;
  readonly apiKey: string;
  /** For one call, in milliseconds. */
  readonly timeoutMs: number;
  /** How large an answer may be, decompressed. Default: 8 MiB. */
  readonly maxAnswerBytes?: number;
  readonly fetch?: typeof fetch;
}

/** Calls one REST resource; `body` is sent as JSON unless undefined; bytes are JSON in gzip. Null: the answer has no body. Rejects with `GatewayRefusal`, or as `fetch` does. */
export type GatewayCall = (method: string, path: string, body: unknown, signal: AbortSignal) => Promise<unknown>;

export function createGatewayCall(options: GatewayCallOptions): GatewayCall {
  const send = options.fetch ?? fetch;
  return async (method, path, body, signal) => {
    for (let retriesLeft = method === "GET" ? maxReadRetries : 0; ; retriesLeft -= 1) {
      const response = await send(new URL(path, options.url), {
        method,
        headers: {
          authorization: `Api-Key ${options.apiKey}`,
          "content-type": "application/json",
          accept: "application/json",
          ...(body instanceof Uint8Array && { "content-encoding": "gzip" }),
        },
        ...(body === undefined
          ? {}
          : { body: body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body) }),
        redirect: "error",
        signal: AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs)]),
      });
      if (response.ok) {
        const bytes = await readBounded(response.body, options.maxAnswerBytes ?? defaultMaxAnswerBytes);
        return response.status === 204 ? null : JSON.parse(new TextDecoder().decode(bytes));
      }
      const refusal = new GatewayRefusal(response.status, refusalText(response.status, await readRefusal(response)));
      const waitMs = retriesLeft > 0 && isBusy(response) ? parseRetryAfterMs(response.headers, Date.now()) : null;
      if (waitMs === null || waitMs > maxRetryWaitMs) throw refusal;
      await pause(waitMs, [signal]);
    }
  };
}

/** A read that a busy gateway refuses is sent again after the wait that it asks for, unless that is longer than a person waits. */
const maxReadRetries = 3;
const maxRetryWaitMs = 5000;

function isBusy({ status }: Response): boolean {
  return status === 429 || status === 503;
}

/** A page of a list has half a mebibyte. */
const defaultMaxAnswerBytes = 8 * 1_048_576;

/** More pages than any list of a gateway has: 200,000 items. */
const maxPages = 1000;

/** The pages of a list, one after the other; throws `RangeError` for a list that does not end. */
export async function* readPages<Page extends { readonly next_cursor: string | null }>(
  read: (cursor: string | null) => Promise<Page>,
): AsyncGenerator<Page> {
  let cursor: string | null = null;
  for (let count = 1; count === 1 || cursor !== null; count += 1) {
    if (count > maxPages) throw new RangeError(`The gateway's list does not end after ${maxPages} pages`);
    const page: Page = await read(cursor);
    cursor = page.next_cursor;
    yield page;
  }
}

export function parseResource<Schema extends v.GenericSchema>(schema: Schema, answer: unknown): v.InferOutput<Schema> {
  const result = v.safeParse(schema, answer);
  if (result.success) return result.output;
  throw new TypeError(
    "Cannot read the gateway's response: it has an unexpected form; does SCANSTREAM_URL name a scanstream gateway?",
  );
}

/** In words: `fetch` says no more than "fetch failed", and names the reason only in its cause. */
export function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return "it cannot be reached";
  if (isTimeout(error)) return "it does not answer";
  const problem = networkProblem(error.cause);
  if (problem === null && error.message !== "fetch failed") return error.message;
  return `${problem ?? "the connection failed"}; check SCANSTREAM_URL, and that the gateway runs`;
}

/** The call took longer than its time. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

/** The problem document's own words, when there is one; a proxy's page says nothing that helps. */
function refusalText(httpStatus: number, body: string): string {
  const detail = problemDetail(body);
  return detail === null
    ? `HTTP status ${httpStatus}; is SCANSTREAM_URL the address of a scanstream gateway?`
    : `${httpStatus} ${detail}${httpStatus === 401 ? "; check SCANSTREAM_API_KEY" : ""}`;
}
