import assert from "node:assert/strict";
import { pause } from "../../shared/abortable.ts";
import { problemKinds, type ErrorCode } from "../../shared/app_error.ts";
import { withTimeout } from "../../shared/with_timeout.ts";

/** A client for the cases of a contract: it knows an address and credentials, and nothing of the gateway behind them. */

export interface GatewayAddress {
  /** Without a slash at its end. */
  readonly url: string;
}

export interface CallOptions {
  readonly method?: string;
  /** The whole `Authorization` header. */
  readonly as?: string;
  /** Bytes are JSON in gzip. */
  readonly json?: unknown;
  readonly body?: BodyInit;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function call({ url }: GatewayAddress, path: string, options: CallOptions = {}): Promise<Response> {
  const { as, json, headers = {} } = options;
  const isGzip = json instanceof Uint8Array;
  const { body = isGzip ? new Uint8Array(json) : JSON.stringify(json) } = options;
  return fetch(`${url}${path}`, {
    method: options.method ?? (body === undefined ? "GET" : "POST"),
    ...(body === undefined ? {} : { body }),
    headers: {
      ...(as === undefined ? {} : { authorization: as }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(isGzip && { "content-encoding": "gzip" }),
      ...headers,
    },
    redirect: "manual",
  });
}

/** Checks status, code and form of a refusal, and that it shows nothing of what was sent. Returns its detail. */
export async function refused(
  response: Response,
  status: (typeof problemKinds)[ErrorCode]["status"],
  secrets: readonly string[] = [],
): Promise<string> {
  // A stream that was opened instead would be read indefinitely.
  if (response.status === 200) await response.body?.cancel();
  assert.notEqual(response.status, 200, `expected a refusal with ${status}, and it was answered`);
  const text = await response.text();
  assert.equal(response.status, status, `expected a refusal with ${status}: ${text.slice(0, 300)}`);
  assert.match(response.headers.get("content-type") ?? "", /^application\/problem\+json/);
  const problem = JSON.parse(text) as Record<string, unknown>;
  assert.equal(problem["status"], status);
  assert.equal(problemKinds[problem["code"] as ErrorCode]?.status, status);
  for (const field of ["type", "title", "detail"]) assert.equal(typeof problem[field], "string", field);
  for (const secret of secrets) assert.ok(!text.includes(secret), "a refusal shows a secret");
  if (status === 401) {
    const challenges = response.headers.get("www-authenticate") ?? "";
    assert.match(challenges, /Bearer realm="scanstream"/);
    assert.match(challenges, /Api-Key realm="scanstream"/);
  }
  if (status === 405) assert.notEqual(response.headers.get("allow"), null);
  if (status === 429 || status === 503) assert.match(response.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
  return String(problem["detail"]);
}

/** Longer than any machine takes, and as long as S4 allows. */
const maxWaitMs = 30_000;

/** One open stream, read as it comes. */
export type StreamReader = Awaited<ReturnType<typeof openStream>>;

/** Opens an event stream; fails unless it is a 200. `credential` null: none but what the path holds. */
export async function openStream(
  gateway: GatewayAddress,
  path: string,
  credential: string | null,
  headers: Readonly<Record<string, string>> = {},
) {
  const leaving = new AbortController();
  const response = await fetch(`${gateway.url}${path}`, {
    headers: { accept: "text/event-stream", ...(credential === null ? {} : { authorization: credential }), ...headers },
    signal: leaving.signal,
    redirect: "manual",
  });
  if (response.status !== 200 || response.body === null) {
    assert.fail(`Cannot open the stream: ${response.status} ${await response.text()}`);
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";

  async function read(until: () => boolean, wanted: string): Promise<boolean> {
    const deadlineMs = Date.now() + maxWaitMs;
    while (!until()) {
      const late = () =>
        new assert.AssertionError({ message: `Nothing came on ${path}: ${wanted} in ${JSON.stringify(tail())}` });
      const chunk = await withTimeout(reader.read(), deadlineMs - Date.now(), late);
      if (chunk.done) return true;
      text += decoder.decode(chunk.value, { stream: true });
    }
    return false;
  }

  const tail = () => text.slice(-400);
  return {
    response,
    /** Everything that was read so far and not taken. */
    text: () => text,
    /** The same, and forgets it. */
    take(): string {
      const taken = text;
      text = "";
      return taken;
    },
    /** Reads until the pattern is there; fails when the stream ends or nothing comes in time. */
    async until(pattern: RegExp | string): Promise<string> {
      const isThere = () => (typeof pattern === "string" ? text.includes(pattern) : pattern.test(text));
      const isOver = await read(isThere, `waited for ${pattern}`);
      if (isOver && !isThere()) assert.fail(`The stream ended before ${pattern}: ${JSON.stringify(tail())}`);
      return text;
    },
    /** Reads to the end. */
    async untilEnd(): Promise<string> {
      await read(() => false, "waited for the end");
      return text;
    },
    /** Leaves, as a client that closes its tab. */
    leave(): void {
      leaving.abort();
      reader.closed.catch(() => undefined);
    },
  };
}

/** Asks again and again until it is so. */
export async function eventually(isSo: () => Promise<boolean> | boolean, what: string): Promise<void> {
  const deadlineMs = Date.now() + maxWaitMs;
  while (!(await isSo())) {
    if (Date.now() > deadlineMs) assert.fail(`Not within ${maxWaitMs} ms: ${what}`);
    await pause(50, []);
  }
}
