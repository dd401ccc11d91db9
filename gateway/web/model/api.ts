import {
  parseFinding,
  parsePage,
  parseScan,
  toRecord,
  toText,
  type FindingRecord,
  type Page,
  type Scan,
} from "../scan_wire.ts";

/** The gateway's REST resources as the page uses them. Every call rejects with `ApiError`, or the signal's reason. */
export interface Api {
  listScans(request: PageRequest): Promise<Page<Scan>>;
  getScan(scanId: string, signal: AbortSignal): Promise<Scan>;
  listFindings(scanId: string, request: PageRequest): Promise<Page<FindingRecord>>;
  cancelScan(scanId: string, signal: AbortSignal): Promise<Scan>;
  /** A token that opens the scan's event stream within the next minute, and nothing else. */
  createStreamToken(scanId: string, signal: AbortSignal): Promise<string>;
}

export interface PageRequest {
  readonly limit: number;
  readonly cursor: string | null;
  readonly signal: AbortSignal;
}

export class ApiError extends Error {
  /** 0: no answer. */
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ApiError";
    this.status = status;
  }
}

export interface ApiOptions {
  /** The whole value of the `Authorization` header, asked for each call. */
  readonly getAuthorization: () => string;
  /** Called when the gateway does not accept the credential; resolves true when there is a new one to try with. */
  readonly onRefused: () => Promise<boolean>;
  readonly timeoutMs?: number;
}

export function createApi(options: ApiOptions): Api {
  async function call(method: string, path: string, signal: AbortSignal, body?: unknown): Promise<unknown> {
    try {
      return await send(method, path, signal, body);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 401) || !(await options.onRefused())) throw error;
      return send(method, path, signal, body);
    }
  }

  function send(method: string, path: string, signal: AbortSignal, body?: unknown): Promise<unknown> {
    const headers: Record<string, string> = { authorization: options.getAuthorization() };
    if (body !== undefined) headers["content-type"] = "application/json";
    return fetchJson(
      path,
      { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
      { signal, timeoutMs: options.timeoutMs ?? 20_000 },
    );
  }

  return {
    listScans: async ({ limit, cursor, signal }) =>
      parsePage(await call("GET", `api/v1/scans?${toQuery(limit, cursor)}`, signal), parseScan),
    getScan: async (scanId, signal) => parseScan(await call("GET", toPath(scanId), signal)),
    listFindings: async (scanId, { limit, cursor, signal }) =>
      parsePage(await call("GET", `${toPath(scanId)}/findings?${toQuery(limit, cursor)}`, signal), parseFinding),
    cancelScan: async (scanId, signal) => parseScan(await call("POST", `${toPath(scanId)}/cancel`, signal)),
    async createStreamToken(scanId, signal) {
      const answer = toRecord(await call("POST", "api/v1/stream-tokens", signal, { scan_id: scanId }));
      const token = toText(answer["access_token"]);
      if (token === null) throw new ApiError(200, "The gateway did not give a stream token");
      return token;
    },
  };
}

/** Paths are relative to the page, so that it also works behind a path of a proxy. */
export async function fetchJson(
  path: string,
  init: RequestInit,
  bounds: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<unknown> {
  const signal = AbortSignal.any([bounds.signal, AbortSignal.timeout(bounds.timeoutMs)]);
  let response: Response;
  let text: string;
  try {
    response = await fetch(new URL(path, document.baseURI), { ...init, cache: "no-store", signal });
    text = await response.text();
  } catch (error) {
    if (bounds.signal.aborted) throw bounds.signal.reason;
    throw new ApiError(0, "The gateway cannot be reached", { cause: error });
  }
  const body = parseJson(text);
  if (response.ok && body !== undefined) return body;
  const detail = toText(toRecord(body)["detail"]);
  throw new ApiError(response.status, detail ?? `The gateway answered with status ${response.status}`);
}

export function toPath(scanId: string): string {
  return `api/v1/scans/${encodeURIComponent(scanId)}`;
}

function toQuery(limit: number, cursor: string | null): string {
  return new URLSearchParams({ limit: String(limit), ...(cursor === null ? {} : { cursor }) }).toString();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy's page; the status says what there is to say.
    return undefined;
  }
}
