import * as v from "valibot";
import { pageOf } from "../../../shared/schemas/page.ts";
import { problemDetail } from "../../../shared/problem_detail.ts";

/** The gateway's REST resources. Every call rejects with `ApiError`, with `TypeError` for an answer of another form, or with the signal's reason. */
export interface Api {
  get<Schema extends v.GenericSchema>(
    path: string,
    schema: Schema,
    signal?: AbortSignal,
  ): Promise<v.InferOutput<Schema>>;
  /** One page of a list; `path` may have a query. */
  list<Item extends v.GenericSchema>(path: string, item: Item, request: PageRequest): Promise<Page<Item>>;
  /** Every item of a list, up to 50,000. */
  listAll<Item extends v.GenericSchema>(
    path: string,
    item: Item,
    signal: AbortSignal,
  ): Promise<readonly v.InferOutput<Item>[]>;
  /** `body` is sent as JSON. Null: the answer has no body. */
  send(method: string, path: string, options?: RequestOptions): Promise<unknown>;
  /** `fetch` with the credential, for an event stream. */
  readonly fetchStream: typeof fetch;
  /** The gateway's time, as its last answer told it; this machine's clock may be wrong. */
  readonly nowMs: () => number;
}

type Page<Item extends v.GenericSchema> = v.InferOutput<ReturnType<typeof pageOf<Item>>>;

export interface PageRequest {
  readonly limit: number;
  readonly cursor: string | null;
  readonly signal: AbortSignal;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
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
  /** Names the tenant of every call, for a credential with several; null: it has one. */
  readonly tenantId: string | null;
  /** Called when the gateway does not accept the credential; resolves true when there is a new one to try with. */
  readonly onRefused: () => Promise<boolean>;
}

/** The date of an answer is in whole seconds, and it was some time under way. */
const clockToleranceMs = 3000;
const answerTimeoutMs = 20_000;
const maxPages = 250;

export function createApi({ getAuthorization, tenantId, onRefused }: ApiOptions): Api {
  let clockSkewMs = 0;

  const fetchAuthorized: typeof fetch = async (input, init) => {
    const open = () => {
      const headers = new Headers(init?.headers);
      headers.set("authorization", getAuthorization());
      if (tenantId !== null) headers.set("x-tenant-id", tenantId);
      return fetch(input, { ...init, headers });
    };
    const response = await open();
    const skewMs = Date.parse(response.headers.get("date") ?? "") - Date.now();
    if (!Number.isNaN(skewMs)) clockSkewMs = Math.abs(skewMs) > clockToleranceMs ? skewMs : 0;
    return response.status === 401 && (await onRefused()) ? open() : response;
  };

  const api: Api = {
    get: async (path, schema, signal) => parseAnswer(schema, await api.send("GET", path, signal && { signal })),
    async list(path, item, { limit, cursor, signal }) {
      const query = new URLSearchParams({ limit: String(limit), ...(cursor === null ? {} : { cursor }) });
      return api.get(`${path}${path.includes("?") ? "&" : "?"}${query}`, pageOf(item), signal);
    },
    async listAll(path, item, signal) {
      const found = [];
      let cursor: string | null = null;
      for (let pages = 0; pages === 0 || (cursor !== null && pages < maxPages); pages += 1) {
        const page: Page<typeof item> = await api.list(path, item, { limit: 200, cursor, signal });
        found.push(...page.items);
        cursor = page.next_cursor;
      }
      return found;
    },
    send(method, path, { signal, body, keepalive = false } = {}) {
      const json = { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      return fetchJson(path, { method, keepalive, ...(body === undefined ? {} : json) }, signal, fetchAuthorized);
    },
    fetchStream: fetchAuthorized,
    nowMs: () => Date.now() + clockSkewMs,
  };
  return api;
}

/** Throws `TypeError` for an answer that is not the gateway's. */
export function parseAnswer<Schema extends v.GenericSchema>(schema: Schema, answer: unknown): v.InferOutput<Schema> {
  const result = v.safeParse(schema, answer);
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new TypeError(`Cannot read the gateway's answer: ${issue.message} at ${v.getDotPath(issue) ?? "its top"}`);
}

/** Paths are relative to the page, so that it also works behind a path of a proxy. Rejects with `ApiError`, or with the signal's reason. */
export async function fetchJson(
  path: string,
  init: RequestInit = {},
  signal?: AbortSignal,
  send: typeof fetch = fetch,
): Promise<unknown> {
  const bounded = AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(answerTimeoutMs)]);
  let response: Response;
  let text: string;
  try {
    response = await send(new URL(path, document.baseURI), { ...init, cache: "no-store", signal: bounded });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    throw new ApiError(0, "The gateway cannot be reached", { cause: error });
  }
  if (response.status === 204) return null;
  if (!response.ok) {
    // A proxy's page says nothing that helps.
    throw new ApiError(response.status, problemDetail(text) ?? `The gateway answered with status ${response.status}`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ApiError(response.status, "The gateway's answer could not be read", { cause: error });
  }
}
