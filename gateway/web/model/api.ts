import * as v from "valibot";
import { isJsonObject, type JsonObject } from "../../../shared/json.ts";

/** The gateway's REST resources. Every call rejects with `ApiError`, with `TypeError` for an answer of another form, or with the signal's reason. */
export interface Api {
  get<Schema extends v.GenericSchema>(
    path: string,
    schema: Schema,
    signal: AbortSignal,
  ): Promise<v.InferOutput<Schema>>;
  /** One page of a list; `path` may have a query. */
  list<Schema extends v.GenericSchema>(
    path: string,
    schema: Schema,
    request: PageRequest,
  ): Promise<Page<v.InferOutput<Schema>>>;
  /** `body` is sent as JSON. Null: the answer has no body. */
  send(method: string, path: string, options: RequestOptions): Promise<unknown>;
  /** `fetch` with the credential, for an event stream. */
  readonly fetchStream: typeof fetch;
  /** By the gateway's clock, as its last answer told it, no matter what this machine's says. */
  readonly nowMs: () => number;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

export interface PageRequest {
  readonly limit: number;
  readonly cursor: string | null;
  readonly signal: AbortSignal;
}

export interface RequestOptions {
  readonly signal: AbortSignal;
  readonly body?: unknown;
  /** The request outlives the page that sends it. */
  readonly keepalive?: boolean;
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

/** The date of an answer is in whole seconds, and it was some time under way. */
const clockToleranceMs = 3000;
const answerTimeoutMs = 20_000;

export function createApi(options: ApiOptions): Api {
  let clockSkewMs = 0;
  const onDate = (dateMs: number) => {
    const skewMs = dateMs - Date.now();
    clockSkewMs = Math.abs(skewMs) > clockToleranceMs ? skewMs : 0;
  };

  function withCredential(headers: Headers): Headers {
    headers.set("authorization", options.getAuthorization());
    if (options.tenantId !== null && options.tenantId !== undefined) headers.set("x-tenant-id", options.tenantId);
    return headers;
  }

  async function send(method: string, path: string, given: RequestOptions): Promise<unknown> {
    try {
      return await sendOnce(method, path, given);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 401) || !(await options.onRefused())) throw error;
      return sendOnce(method, path, given);
    }
  }

  function sendOnce(method: string, path: string, { signal, body, keepalive = false }: RequestOptions) {
    const headers = withCredential(new Headers());
    if (body !== undefined) headers.set("content-type", "application/json");
    const init = { method, headers, keepalive, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    return fetchJson(path, init, { signal, timeoutMs: answerTimeoutMs, onDate });
  }

  return {
    get: async (path, schema, signal) => parseAnswer(schema, await send("GET", path, { signal })),
    async list(path, schema, { limit, cursor, signal }) {
      const query = new URLSearchParams({ limit: String(limit), ...(cursor === null ? {} : { cursor }) });
      const answer = await send("GET", `${path}${path.includes("?") ? "&" : "?"}${query}`, { signal });
      const page = v.object({ items: v.array(schema), next_cursor: v.nullable(v.string()) });
      const { items, next_cursor: nextCursor } = parseAnswer(page, answer);
      return { items, nextCursor };
    },
    send,
    async fetchStream(input, init) {
      const open = () => fetch(input, { ...init, headers: withCredential(new Headers(init?.headers)) });
      const response = await open();
      return response.status === 401 && (await options.onRefused()) ? open() : response;
    },
    nowMs: () => Date.now() + clockSkewMs,
  };
}

/** Reads a list to its end, or up to `maxPages` pages of 200. Rejects as `Api` does. */
export async function listAll<Schema extends v.GenericSchema>(
  api: Pick<Api, "list">,
  path: string,
  {
    schema,
    signal,
    maxPages = 250,
  }: { readonly schema: Schema; readonly signal: AbortSignal; readonly maxPages?: number },
): Promise<readonly v.InferOutput<Schema>[]> {
  const found: v.InferOutput<Schema>[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const page: Page<v.InferOutput<Schema>> = await api.list(path, schema, { limit: 200, cursor, signal });
    found.push(...page.items);
    cursor = page.nextCursor;
    if (cursor === null) break;
  }
  return found;
}

/** Throws `TypeError` for an answer that is not the gateway's. */
export function parseAnswer<Schema extends v.GenericSchema>(schema: Schema, answer: unknown): v.InferOutput<Schema> {
  const result = v.safeParse(schema, answer);
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new TypeError(`Cannot read the gateway's answer: ${issue.message} at ${v.getDotPath(issue) ?? "its top"}`);
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

export function toRecord(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function toText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // It is a proxy's page; the status says what there is to say.
    return undefined;
  }
}
