import { eventStreamOf, isTemporary, readRefusal } from "../http_refusal.ts";
import { streamError, type SubscribeError, type SubscribeErrorCode } from "./subscribe_error.ts";
import { maxWaitMs, type SubscribeSettings } from "./subscribe_options.ts";

/**
 * The open stream's bytes, or `null` for 204: the resource has already ended. Without a token the API key counts, or nothing. Rejects
 * with `SubscribeError`.
 */
export async function openConnection(
  { url, fetch, apiKey }: SubscribeSettings,
  token: string | undefined,
  signal: AbortSignal,
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
  const stream = eventStreamOf(response);
  if (stream !== null) return stream;
  const { status } = response;
  if (status !== 200 && status !== 204) throw await toRefusal(url, response);
  // An unread body would keep its connection busy.
  await response.body?.cancel().catch(() => undefined);
  if (status === 204) return null;
  const contentType = response.headers.get("content-type") ?? "none";
  const what = `content type ${JSON.stringify(contentType.slice(0, 80))} is not "text/event-stream"`;
  throw streamError(url, "not_a_stream", what, { status });
}

async function toRefusal(url: string, response: Response): Promise<SubscribeError> {
  const { status } = response;
  const { detail: given, retryAfterMs } = await readRefusal(response);
  const detail = given?.slice(0, 500) ?? null;
  const what = `the server answered ${status}${detail === null ? "" : ` (${detail})`}`;
  const code = codes[status] ?? (isTemporary(status) ? "unavailable" : "refused");
  return streamError(url, code, what, {
    status,
    detail,
    retryAfterMs: retryAfterMs && Math.min(retryAfterMs, maxWaitMs),
  });
}

const codes: Readonly<Record<number, SubscribeErrorCode>> = {
  401: "not_authenticated",
  403: "permission_denied",
  404: "not_found",
};
