import { isTemporary, readRefusal } from "../http_refusal.ts";
import { streamError, type SubscribeError, type SubscribeErrorCode } from "./subscribe_error.ts";
import { maxWaitMs, type SubscribeSettings } from "./subscribe_options.ts";

/** The access token; undefined: the API key counts, or nothing. */
interface ConnectOptions {
  readonly token: string | undefined;
  readonly signal: AbortSignal;
}

/** The open stream's bytes, or `null` for 204: the resource has already ended. Rejects with `SubscribeError`. */
export async function openConnection(
  { url, fetch, apiKey }: SubscribeSettings,
  { token, signal }: ConnectOptions,
): Promise<ReadableStream<Uint8Array> | null> {
  const headers = new Headers({ accept: "text/event-stream" });
  if (apiKey !== undefined) headers.set("authorization", `Api-Key ${apiKey}`);
  else if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
  let response: Response;
  try {
    response = await fetch(url, { headers, cache: "no-store", signal });
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw streamError(url, "unreachable", "the server cannot be reached", { cause });
  }
  const { status, body } = response;
  const contentType = response.headers.get("content-type") ?? "none";
  if (status === 200 && body !== null && /^text\/event-stream\s*(;|$)/i.test(contentType)) return body;
  if (status !== 200 && status !== 204) throw await toRefusal(url, response);
  // An unread body would keep its connection busy.
  await body?.cancel().catch(() => undefined);
  if (status === 204) return null;
  const what = `content type ${JSON.stringify(contentType.slice(0, 80))} is not "text/event-stream"`;
  throw streamError(url, "not_a_stream", what, { status });
}

async function toRefusal(url: string, response: Response): Promise<SubscribeError> {
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
  return isTemporary(status) ? "unavailable" : "refused";
}
