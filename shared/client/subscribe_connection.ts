import { readRefusal } from "../http_refusal.ts";
import { streamError, type SubscribeError, type SubscribeErrorCode } from "./subscribe_error.ts";
import { maxWaitMs, withQuery } from "./subscribe_options.ts";

export interface Credential {
  /** The whole value of the `Authorization` header. */
  readonly authorization?: string;
  /** Sent as `?access_token=` instead. */
  readonly queryToken?: string;
}

/** One attempt to open the stream. */
export interface ConnectionRequest extends Credential {
  readonly url: string;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

/** The open stream's bytes, or `null` for 204: the resource has already ended. Rejects with `SubscribeError`. */
export async function openConnection(request: ConnectionRequest): Promise<ReadableStream<Uint8Array> | null> {
  const response = await send(request);
  if (response.status === 204) {
    await discard(response);
    return null;
  }
  if (response.status !== 200) throw await toRefusal(request, response);
  const contentType = response.headers.get("content-type") ?? "none";
  if (response.body === null || !/^text\/event-stream\s*(;|$)/i.test(contentType)) {
    await discard(response);
    const what = `content type ${JSON.stringify(contentType.slice(0, 80))} is not "text/event-stream"`;
    throw streamError(request.url, "not_a_stream", what, { status: 200 });
  }
  return response.body;
}

async function send({ url, fetch, authorization, queryToken, signal }: ConnectionRequest): Promise<Response> {
  const headers = new Headers({ accept: "text/event-stream" });
  if (authorization !== undefined) headers.set("authorization", authorization);
  const secretUrl = queryToken === undefined ? url : withQuery(url, "access_token", queryToken);
  try {
    return await fetch(secretUrl, { headers, cache: "no-store", signal });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw streamError(url, "unreachable", "the server cannot be reached", {
      // Deno writes the whole URL into its message, query and all.
      cause: queryToken === undefined ? error : undefined,
    });
  }
}

async function toRefusal({ url }: ConnectionRequest, response: Response): Promise<SubscribeError> {
  const { status } = response;
  const refusal = await readRefusal(response);
  const detail = refusal.detail?.slice(0, 500) ?? null;
  const what = `the server answered ${status}${detail === null ? "" : ` (${detail})`}`;
  const retryAfterMs = refusal.retryAfterMs === null ? null : Math.min(refusal.retryAfterMs, maxWaitMs);
  return streamError(url, toCode(status), what, { status, detail, retryAfterMs });
}

function toCode(status: number): SubscribeErrorCode {
  if (status === 401) return "not_authenticated";
  if (status === 403) return "permission_denied";
  if (status === 404) return "not_found";
  // 408 and 425 invite a retry.
  if (status === 408 || status === 425 || status === 429 || status >= 500) return "unavailable";
  return "refused";
}

/** An unread body would keep its connection busy. */
async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => undefined);
}
