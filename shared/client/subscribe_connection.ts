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
  settings: SubscribeSettings,
  options: ConnectOptions,
): Promise<ReadableStream<Uint8Array> | null> {
  const { url } = settings;
  const response = await send(settings, options);
  if (response.status === 204) {
    await discard(response);
    return null;
  }
  if (response.status !== 200) throw await toRefusal(url, response);
  const contentType = response.headers.get("content-type") ?? "none";
  if (response.body === null || !/^text\/event-stream\s*(;|$)/i.test(contentType)) {
    await discard(response);
    const what = `content type ${JSON.stringify(contentType.slice(0, 80))} is not "text/event-stream"`;
    throw streamError(url, "not_a_stream", what, { status: 200 });
  }
  return response.body;
}

async function send({ url, fetch, apiKey }: SubscribeSettings, { token, signal }: ConnectOptions): Promise<Response> {
  const headers = new Headers({ accept: "text/event-stream" });
  if (apiKey !== undefined) headers.set("authorization", `Api-Key ${apiKey}`);
  else if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
  try {
    return await fetch(url, { headers, cache: "no-store", signal });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw streamError(url, "unreachable", "the server cannot be reached", { cause: error });
  }
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

/** An unread body would keep its connection busy. */
async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => undefined);
}
