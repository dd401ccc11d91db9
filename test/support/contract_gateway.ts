import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join, normalize } from "node:path";

/**
 * A small server that speaks the gateway's routes from memory and can fail on demand: what the page does when a gateway
 * misbehaves must be shown with one that does.
 */
export interface ContractGateway {
  readonly url: string;
  /** Every request line and its headers, as a log would hold them. */
  readonly requests: readonly {
    readonly method: string;
    readonly url: string;
    readonly authorization: string | null;
  }[];
  /** Breaks every open stream without a word. */
  cutStreams(): void;
  readonly openStreams: number;
  close(): Promise<void>;
}

export interface GatewayTenant {
  readonly id: string;
  readonly name: string;
  readonly apiKey: string;
  readonly accessToken: string;
}

/** What survives a restart. */
export interface GatewayState {
  readonly tenants: readonly GatewayTenant[];
  readonly scans: Map<string, Record<string, unknown>>;
  readonly findings: Map<string, Map<string, Record<string, unknown>>>;
}

export interface ContractGatewayOptions {
  readonly state: GatewayState;
  readonly webFolder: string;
  readonly port?: number;
  /** Which tenant the demo session is of; none: no demo. */
  readonly demo?: GatewayTenant;
  /** Answers before anything else does; true when it did. */
  readonly intercept?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export function createGatewayState(names: readonly string[]): GatewayState {
  const tenants = names.map((name, index) => ({
    id: randomUUID(),
    name,
    apiKey: `scs_${String(index).padStart(8, "0")}_${"0123456789abcdef".repeat(4)}`,
    accessToken: `eyJhbGciOiJub25lIn0.${Buffer.from(name).toString("base64url")}.signature${index}`,
  }));
  return { tenants, scans: new Map(), findings: new Map() };
}

const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const endStatuses = new Set(["completed", "cancelled", "failed", "expired"]);

export async function startContractGateway(options: ContractGatewayOptions): Promise<ContractGateway> {
  const { state } = options;
  const requests: { method: string; url: string; authorization: string | null }[] = [];
  const streams = new Map<ServerResponse, string>();
  const streamTokens = new Map<string, { readonly tenantId: string; readonly scanId: string }>();

  const server = createServer((request, response) => {
    const { method = "GET", url = "/" } = request;
    requests.push({ method, url, authorization: request.headers.authorization ?? null });
    if (options.intercept?.(request, response) === true) return;
    void answer(request, response);
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://gateway");
    const parts = url.pathname.split("/").slice(1);
    if (url.pathname === "/demo/session") return demoSession(response);
    if (parts[0] !== "api") return asset(url.pathname, response);
    const tenantId = authenticate(request);
    if (parts.at(-1) === "event-stream") return eventStream(request, response, parts[3] ?? "", tenantId);
    if (tenantId === null) return problem(response, 401, "The token or key is not valid");
    const body = request.method === "GET" ? {} : await readBody(request);
    if (parts[2] === "stream-tokens") return streamToken(response, body, tenantId);
    if (parts[2] === "channels") return publish(response, decodeURIComponent(parts[3] ?? ""), body, tenantId);
    return scanRoutes(request.method ?? "GET", url, { parts, body, tenantId, response });
  }

  function demoSession(response: ServerResponse): void {
    if (options.demo === undefined) return problem(response, 404, "No such resource");
    const { id, name, accessToken } = options.demo;
    json(response, 200, { access_token: accessToken, tenant_id: id, tenant_name: name });
  }

  async function asset(path: string, response: ServerResponse): Promise<void> {
    const name = path === "/" ? "index.html" : normalize(path).slice(1);
    const types: Record<string, string> = {
      html: "text/html",
      js: "text/javascript",
      css: "text/css",
      svg: "image/svg+xml",
    };
    try {
      const content = await readFile(join(options.webFolder, name));
      response.writeHead(200, {
        "content-type": `${types[name.split(".").at(-1) ?? ""] ?? "application/octet-stream"}; charset=utf-8`,
        "content-security-policy": contentSecurityPolicy,
        "x-content-type-options": "nosniff",
      });
      response.end(content);
    } catch {
      problem(response, 404, "No such resource");
    }
  }

  function authenticate(request: IncomingMessage): string | null {
    const [scheme, value] = (request.headers.authorization ?? "").split(" ");
    const tenant = state.tenants.find((one) =>
      scheme === "Bearer" ? one.accessToken === value : scheme === "Api-Key" && one.apiKey === value,
    );
    return tenant?.id ?? null;
  }

  function eventStream(
    request: IncomingMessage,
    response: ServerResponse,
    scanId: string,
    tenantId: string | null,
  ): void {
    const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "")?.[1];
    const granted = streamTokens.get(token ?? "");
    const owner = granted?.scanId === scanId ? granted.tenantId : tenantId;
    if (owner === null) return problem(response, 401, "The token or key is not valid");
    const scan = state.scans.get(scanId);
    if (scan?.["tenant_id"] !== owner) return problem(response, 404, "No such scan");
    if (endStatuses.has(String(scan["status"]))) {
      response.writeHead(204);
      response.end();
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" });
    response.write("retry: 100\n: open\n");
    streams.set(response, String(scan["channel"]));
    response.on("close", () => streams.delete(response));
  }

  function streamToken(response: ServerResponse, body: Record<string, unknown>, tenantId: string): void {
    const scanId = String(body["scan_id"]);
    if (state.scans.get(scanId)?.["tenant_id"] !== tenantId) return problem(response, 404, "No such scan");
    const token = `stream.${randomUUID()}.token`;
    streamTokens.set(token, { tenantId, scanId });
    json(response, 200, { access_token: token, expires_in: 60 });
  }

  function publish(response: ServerResponse, channel: string, body: Record<string, unknown>, tenantId: string): void {
    if (channel.split(":")[1] !== tenantId) return problem(response, 403, "Not permitted");
    send(channel, String(body["type"]), body["data"]);
    json(response, 202, {});
  }

  function send(channel: string, type: string, data: unknown): void {
    for (const [stream, subscribed] of streams) {
      if (subscribed !== channel) continue;
      stream.write(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
      if (type === "scan.end") stream.end(": close ended\n ");
    }
  }

  interface Call {
    readonly parts: readonly string[];
    readonly body: Record<string, unknown>;
    readonly tenantId: string;
    readonly response: ServerResponse;
  }

  function scanRoutes(method: string, url: URL, call: Call): void {
    const { parts, body, tenantId, response } = call;
    const [, , resource, id, what] = parts;
    if (resource !== "scans") return problem(response, 404, "No such resource");
    if (id === undefined && method === "POST") return json(response, 201, createScan(tenantId, body));
    if (id === undefined) {
      const own = [...state.scans.values()].filter((scan) => scan["tenant_id"] === tenantId).toReversed();
      return json(response, 200, page(own, url));
    }
    const scan = state.scans.get(id);
    if (scan?.["tenant_id"] !== tenantId) return problem(response, 404, "No such scan");
    const findings = state.findings.get(id) ?? new Map<string, Record<string, unknown>>();
    const isOver = endStatuses.has(String(scan["status"]));
    if (what === "findings" && method === "GET") return json(response, 200, page([...findings.values()], url));
    if (what === "findings") {
      for (const finding of body["findings"] as Record<string, unknown>[]) {
        findings.set(String(finding["fingerprint"]), finding);
      }
      return json(response, 200, {});
    }
    if (method === "GET") return json(response, 200, scan);
    if (isOver) return problem(response, 409, "The scan has ended");
    if (what === "cancel") {
      scan["cancel_requested"] = true;
      return json(response, 202, scan);
    }
    Object.assign(scan, body);
    if (endStatuses.has(String(scan["status"]))) {
      scan["ended_at"] = new Date().toISOString();
      const { status, pass, fail, manual } = scan;
      send(String(scan["channel"]), "scan.end", { scan_id: id, status, pass, fail, manual });
    }
    json(response, 200, scan);
  }

  function createScan(tenantId: string, body: Record<string, unknown>): Record<string, unknown> {
    const id = randomUUID();
    const now = new Date().toISOString();
    const scan = {
      org_url: null,
      client_id: null,
      checks_total: 0,
      checks_done: 0,
      pass: 0,
      fail: 0,
      manual: 0,
      status: "pending",
      cancel_requested: false,
      created_at: now,
      started_at: now,
      ended_at: null,
      ...body,
      id,
      tenant_id: tenantId,
      channel: `scan:${tenantId}:${id}`,
      event_stream: `/api/v1/scans/${id}/event-stream`,
    };
    state.scans.set(id, scan);
    state.findings.set(id, new Map());
    return scan;
  }

  server.listen(options.port ?? 0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get openStreams() {
      return streams.size;
    },
    cutStreams() {
      for (const stream of streams.keys()) stream.destroy();
    },
    async close() {
      const isClosed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await isClosed;
    },
  };
}

function page(items: readonly unknown[], url: URL): object {
  const limit = Number(url.searchParams.get("limit") ?? 50);
  const from = Number(url.searchParams.get("cursor") ?? 0);
  const isLast = from + limit >= items.length;
  return { items: items.slice(from, from + limit), next_cursor: isLast ? null : String(from + limit) };
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function problem(response: ServerResponse, status: number, detail: string): void {
  response.writeHead(status, { "content-type": "application/problem+json" });
  response.end(JSON.stringify({ type: "about:blank", title: "Refused", status, detail, code: "refused" }));
}
