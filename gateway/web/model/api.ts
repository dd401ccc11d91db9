import { parseCaller, type Caller } from "../caller_wire.ts";
import { parseChange, parseMonitor, type Change, type Monitor } from "../monitor_wire.ts";
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
  /** Who the credential is of, in the tenant that was chosen. */
  getCaller(signal: AbortSignal): Promise<Caller>;
  listScans(request: PageRequest): Promise<Page<Scan>>;
  getScan(scanId: string, signal: AbortSignal): Promise<Scan>;
  listFindings(scanId: string, request: PageRequest): Promise<Page<FindingRecord>>;
  cancelScan(scanId: string, signal: AbortSignal): Promise<Scan>;
  deleteScan(scanId: string, signal: AbortSignal): Promise<void>;
  /** The finished report as its scanner stored it. */
  getReport(scanId: string, signal: AbortSignal): Promise<unknown>;
  listMonitors(request: PageRequest): Promise<Page<Monitor>>;
  getMonitor(monitorId: string, signal: AbortSignal): Promise<Monitor>;
  /** Newest first; with a fingerprint, the history of one finding. */
  listChanges(monitorId: string, request: PageRequest & { readonly fingerprint?: string }): Promise<Page<Change>>;
  /** The newest change of every finding that is there now. */
  listVerdicts(monitorId: string, request: PageRequest): Promise<Page<Change>>;
  /** Any other resource, unchecked; `body` is sent as JSON. Null: the answer has no body. */
  request(method: string, path: string, options: RequestOptions): Promise<unknown>;
  /** `fetch` with the credential, for an event stream. */
  readonly fetchStream: typeof fetch;
  /** By the gateway's clock, no matter what this machine's says. */
  readonly nowMs: () => number;
}

export interface PageRequest {
  readonly limit: number;
  readonly cursor: string | null;
  readonly signal: AbortSignal;
}

export interface RequestOptions {
  readonly signal: AbortSignal;
  readonly body?: unknown;
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
  /** For a credential for several tenants: the one that every call is about. */
  readonly tenantId?: string | null;
  /** Called when the gateway does not accept the credential; resolves true when there is a new one to try with. */
  readonly onRefused: () => Promise<boolean>;
}

/** What the date of an answer, in whole seconds and some time under way, cannot tell. */
const clockToleranceMs = 3000;
const clockAskedEveryMs = 10_000;
const answerTimeoutMs = 20_000;

export function createApi(options: ApiOptions): Api {
  let clockSkewMs = 0;
  let offsetMs = clockOffset();
  let askedAtMs = -clockAskedEveryMs;
  const onDate = (dateMs: number) => {
    offsetMs = clockOffset();
    const skewMs = dateMs - Date.now();
    clockSkewMs = Math.abs(skewMs) > clockToleranceMs ? skewMs : 0;
  };

  function withCredential(headers: Headers): Headers {
    headers.set("authorization", options.getAuthorization());
    if (options.tenantId !== null && options.tenantId !== undefined) headers.set("x-tenant-id", options.tenantId);
    return headers;
  }

  async function request(method: string, path: string, given: RequestOptions): Promise<unknown> {
    try {
      return await send(method, path, given);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 401) || !(await options.onRefused())) throw error;
      return send(method, path, given);
    }
  }

  function send(method: string, path: string, { signal, body }: RequestOptions): Promise<unknown> {
    const headers = withCredential(new Headers());
    if (body !== undefined) headers.set("content-type", "application/json");
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    return fetchJson(path, init, { signal, timeoutMs: answerTimeoutMs, onDate });
  }

  const call = (method: string, path: string, signal: AbortSignal) => request(method, path, { signal });

  /** The clock of this machine was set, or it slept: only the gateway knows what time it is. */
  function askAfterJump(): void {
    const isJump = Math.abs(clockOffset() - offsetMs) > clockToleranceMs;
    if (!isJump || performance.now() - askedAtMs < clockAskedEveryMs) return;
    askedAtMs = performance.now();
    call("GET", "api/v1/session", AbortSignal.timeout(clockAskedEveryMs)).catch(() => undefined);
  }

  return {
    getCaller: async (signal) => parseCaller(await call("GET", "api/v1/session", signal)),
    listScans: async ({ limit, cursor, signal }) =>
      parsePage(await call("GET", `api/v1/scans?${toQuery(limit, cursor)}`, signal), parseScan),
    getScan: async (scanId, signal) => parseScan(await call("GET", toPath(scanId), signal)),
    listFindings: async (scanId, { limit, cursor, signal }) =>
      parsePage(await call("GET", `${toPath(scanId)}/findings?${toQuery(limit, cursor)}`, signal), parseFinding),
    cancelScan: async (scanId, signal) => parseScan(await call("POST", `${toPath(scanId)}/cancel`, signal)),
    listMonitors: async ({ limit, cursor, signal }) =>
      parsePage(await call("GET", `api/v1/monitors?${toQuery(limit, cursor)}`, signal), parseMonitor),
    getMonitor: async (monitorId, signal) => parseMonitor(await call("GET", toMonitorPath(monitorId), signal)),
    async listChanges(monitorId, { limit, cursor, signal, fingerprint }) {
      const one = fingerprint === undefined ? "" : `&fingerprint=${encodeURIComponent(fingerprint)}`;
      const path = `${toMonitorPath(monitorId)}/changes?${toQuery(limit, cursor)}${one}`;
      return parsePage(await call("GET", path, signal), parseChange);
    },
    listVerdicts: async (monitorId, { limit, cursor, signal }) =>
      parsePage(
        await call("GET", `${toMonitorPath(monitorId)}/findings?${toQuery(limit, cursor)}`, signal),
        parseChange,
      ),
    getReport: (scanId, signal) => call("GET", `${toPath(scanId)}/report`, signal),
    async deleteScan(scanId, signal) {
      await call("DELETE", toPath(scanId), signal);
    },
    request,
    async fetchStream(input, init) {
      const open = () => {
        const headers = withCredential(new Headers(init?.headers));
        return fetch(input, { ...init, headers });
      };
      const response = await open();
      return response.status === 401 && (await options.onRefused()) ? open() : response;
    },
    nowMs() {
      askAfterJump();
      return Date.now() + clockSkewMs;
    },
  };
}

/** Rejects with `ApiError`, or the signal's reason. */
export async function listAllFindings(
  api: Api,
  scanId: string,
  signal: AbortSignal,
): Promise<readonly FindingRecord[]> {
  const found: FindingRecord[] = [];
  let cursor: string | null = null;
  do {
    const page = await api.listFindings(scanId, { limit: 200, cursor, signal });
    found.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return found;
}

/** Another one when the clock jumps. */
function clockOffset(): number {
  return Date.now() - performance.now();
}

/** Paths are relative to the page, so that it also works behind a path of a proxy. */
export async function fetchJson(
  path: string,
  init: RequestInit,
  bounds: {
    readonly signal: AbortSignal;
    readonly timeoutMs: number;
    /** Called with the time at which the answer was made. */
    readonly onDate?: (dateMs: number) => void;
  },
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
  const dateMs = Date.parse(response.headers.get("date") ?? "");
  if (!Number.isNaN(dateMs)) bounds.onDate?.(dateMs);
  if (response.status === 204) return null;
  const body = parseJson(text);
  if (response.ok && body !== undefined) return body;
  const detail = toText(toRecord(body)["detail"]);
  const words = response.ok
    ? "The gateway's answer could not be read"
    : `The gateway answered with status ${response.status}`;
  throw new ApiError(response.status, detail ?? words);
}

export function toPath(scanId: string): string {
  return `api/v1/scans/${encodeURIComponent(scanId)}`;
}

export function toMonitorPath(monitorId: string): string {
  return `api/v1/monitors/${encodeURIComponent(monitorId)}`;
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
