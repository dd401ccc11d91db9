import { parseJsonObject } from "./json.ts";
import { readBounded } from "./read_bounded.ts";

/** The gateway answered, and refused. */
export class GatewayRefusal extends Error {
  readonly httpStatus: number;
  /** The problem document's own words (https://www.rfc-editor.org/rfc/rfc9457); null: there is none, and a proxy's page says nothing that helps. */
  readonly detail: string | null;
  /** Null: the answer does not say when to try again. */
  readonly retryAfterMs: number | null;

  constructor(httpStatus: number, detail: string | null, retryAfterMs: number | null = null) {
    super(detail ?? `The gateway answered with status ${httpStatus}`);
    this.name = "GatewayRefusal";
    this.httpStatus = httpStatus;
    this.detail = detail;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The body of an event stream; null for any other response. */
export function eventStreamOf({ status, headers, body }: Response): ReadableStream<Uint8Array> | null {
  return status === 200 && /^text\/event-stream\s*(;|$)/i.test(headers.get("content-type") ?? "") ? body : null;
}

/** Never rejects: a body that breaks, is too long or says nothing only costs the detail. */
export async function readRefusal(response: Response): Promise<GatewayRefusal> {
  const given = parseJsonObject(await readRefusalText(response))?.["detail"];
  const detail = typeof given === "string" ? given : null;
  return new GatewayRefusal(response.status, detail, retryAfterOf(response.headers));
}

/** True where the same request may be taken later. 408 and 425 come from a proxy, also for a connection that was idle. */
export function isTemporary(status: number): boolean {
  return [408, 425, 429].includes(status) || status >= 500;
}

const maxRefusalBytes = 65_536;

/** Reads the body of a refusal. Never rejects; empty where it cannot be read, or is far too long. */
export async function readRefusalText(response: Response): Promise<string> {
  try {
    return new TextDecoder().decode(await readBounded(response.body, maxRefusalBytes));
  } catch {
    return "";
  }
}

/** Seconds or an HTTP date: https://www.rfc-editor.org/rfc/rfc9110#field.retry-after */
function retryAfterOf(headers: Headers): number | null {
  const value = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const untilMs = Date.parse(value);
  if (Number.isNaN(untilMs)) return null;
  // Measured by the server's clock where it sends a date: this machine's may be wrong by hours.
  const serverNowMs = Date.parse(headers.get("date") ?? "");
  return Math.max(0, untilMs - (Number.isNaN(serverNowMs) ? Date.now() : serverNowMs));
}
