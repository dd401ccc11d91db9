import * as v from "valibot";
import { pause } from "../abortable.ts";
import { networkProblem } from "../error_code.ts";
import { GatewayRefusal, readRefusal } from "../http_refusal.ts";
import { readBounded } from "../read_bounded.ts";
import { pageOf } from "../schemas/primitives.ts";
import { isTimeout } from "../with_timeout.ts";

/** The answer is not a gateway's. */
class UnexpectedAnswer extends Error {
  constructor(options?: ErrorOptions) {
    super("Cannot read the gateway's response: it has an unexpected form", options);
    this.name = "UnexpectedAnswer";
  }
}

interface RestOptions {
  /** Base of the paths. */
  readonly url: string;
  readonly apiKey?: string;
  /** Adds the credential where there is no key. */
  readonly fetch?: typeof fetch;
  /** Bound on one call, in milliseconds. A compressed body has as much time again as it takes over a slow line. */
  readonly timeoutMs: number;
  /** How large an answer may be, decompressed. Default: 8 MiB; a page of a list has half a mebibyte. */
  readonly maxAnswerBytes?: number;
}

/** Any REST resource of a gateway. Every call rejects with `GatewayRefusal`, `UnexpectedAnswer`, or as `fetch` does. */
export type RestClient = ReturnType<typeof openGateway>;

export interface SendOptions {
  /** Sent as JSON; a text is JSON already, and bytes are JSON in gzip. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** The request outlives the page that sends it. */
  readonly keepalive?: boolean;
}

/** A read that a busy gateway refuses is sent again after the wait that it asks for, unless that is longer than a person waits. */
const maxReadRetries = 3;
const maxRetryWaitMs = 5000;
const defaultMaxAnswerBytes = 8 * 1_048_576;
/** More pages than any list of a gateway has: 200,000 items. */
const maxPages = 1000;

/** The gateway's resources for whoever has a credential. */
export function openGateway({ apiKey, fetch: request = fetch, ...options }: RestOptions) {
  const headers = {
    accept: "application/json",
    "content-type": "application/json",
    ...(apiKey !== undefined && { authorization: `Api-Key ${apiKey}` }),
  };

  /** Resolves with the answer, which nobody has checked; null: it has no body. */
  async function send(method: string, path: string, parts: SendOptions = {}): Promise<unknown> {
    const { body, signal, keepalive = false } = parts;
    const uploadMs = body instanceof Uint8Array ? Math.ceil((body.byteLength / 1_048_576) * 10_000) : 0;
    for (let retriesLeft = method === "GET" ? maxReadRetries : 0; ; retriesLeft -= 1) {
      const timeout = AbortSignal.timeout(options.timeoutMs + uploadMs);
      const response = await request(new URL(path, options.url), {
        method,
        headers: { ...headers, ...(body instanceof Uint8Array && { "content-encoding": "gzip" }) },
        ...(body !== undefined && { body: encodeBody(body) }),
        keepalive,
        redirect: "error",
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
      if (response.ok) {
        const bytes = await readBounded(response.body, options.maxAnswerBytes ?? defaultMaxAnswerBytes);
        return response.status === 204 ? null : parseJson(new TextDecoder().decode(bytes));
      }
      const refusal = await readRefusal(response);
      const { retryAfterMs } = refusal;
      const isBusy = response.status === 429 || response.status === 503;
      if (!isBusy || retriesLeft === 0 || retryAfterMs === null || retryAfterMs > maxRetryWaitMs) throw refusal;
      await pause(retryAfterMs, signal === undefined ? [] : [signal]);
    }
  }

  /** Resolves with the answer as the schema has it. */
  async function ask<Schema extends v.GenericSchema>(
    method: string,
    path: string,
    schema: Schema,
    parts?: SendOptions,
  ): Promise<v.InferOutput<Schema>> {
    const result = v.safeParse(schema, await send(method, path, parts));
    if (result.success) return result.output;
    const [issue] = result.issues;
    throw new UnexpectedAnswer({ cause: `${issue.message} at ${v.getDotPath(issue) ?? "its top"}` });
  }

  function get<Schema extends v.GenericSchema>(path: string, schema: Schema, signal?: AbortSignal) {
    return ask("GET", path, schema, signal && { signal });
  }

  /** The pages of a list, one after the other. Throws `RangeError` for a list that does not end. */
  async function* pages<Page extends v.GenericSchema<unknown, { readonly next_cursor: string | null }>>(
    path: string,
    schema: Page,
    { query, signal }: { readonly query?: Readonly<Record<string, string>>; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<v.InferOutput<Page>> {
    let cursor: string | null = null;
    for (let count = 1; count === 1 || cursor !== null; count += 1) {
      if (count > maxPages) throw new RangeError(`The gateway's list does not end after ${maxPages} pages`);
      const given = new URLSearchParams({ ...query, ...(cursor !== null && { cursor }) });
      const page: v.InferOutput<Page> = await get(`${path}?${given}`, schema, signal);
      cursor = page.next_cursor;
      yield page;
    }
  }

  async function list<Item extends v.GenericSchema>(path: string, item: Item, parts: Parameters<typeof pages>[2]) {
    const found: v.InferOutput<Item>[] = [];
    const query = { limit: "200", ...parts?.query };
    for await (const { items } of pages(path, pageOf(item), { ...parts, query })) found.push(...items);
    return found;
  }

  return { send, ask, get, pages, list };
}

function encodeBody(body: unknown): BodyInit {
  if (typeof body === "string") return body;
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UnexpectedAnswer({ cause: error });
  }
}

/** In words: `fetch` says no more than "fetch failed", and names the reason only in its cause. */
export function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return "it cannot be reached";
  if (isTimeout(error)) return "it does not answer";
  if (error instanceof UnexpectedAnswer) return `${error.message}; does SCANSTREAM_URL name a scanstream gateway?`;
  if (error instanceof GatewayRefusal) {
    const { httpStatus, detail } = error;
    if (detail !== null) return `${httpStatus} ${detail}${httpStatus === 401 ? "; check SCANSTREAM_API_KEY" : ""}`;
    // A proxy says that of a gateway that is away, or busy.
    const isAway = httpStatus === 429 || httpStatus >= 500;
    return `HTTP status ${httpStatus}${isAway ? "" : "; is SCANSTREAM_URL the address of a scanstream gateway?"}`;
  }
  const problem = networkProblem(error.cause);
  if (problem === null && !/^(fetch failed|terminated)$/.test(error.message)) return error.message;
  return `${problem ?? "the connection failed"}; check SCANSTREAM_URL, and that the gateway runs`;
}
