import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { scanId, scanPath } from "./case.ts";
import type { CaseRun } from "./case_run.ts";

/** Where a client finds what belongs to one case. */
export interface CaseAddresses {
  readonly stream: string;
  readonly token: string;
  readonly state: string;
  readonly events: string;
}

export interface CaseServer {
  readonly url: string;
  addressesOf(run: CaseRun): CaseAddresses;
  stop(): Promise<void>;
}

const maxReportBytes = 8 * 1024 * 1024;

/** Serves these cases on 127.0.0.1, to pages of any origin too. Rejects when the port cannot be had. */
export async function startCaseServer(runs: readonly CaseRun[], port: number): Promise<CaseServer> {
  const byName = new Map(runs.map((run) => [run.case.name, run]));
  const server = createServer((request, response) => {
    void route(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const addressesOf = ({ case: { name, path = scanPath(scanId) } }: CaseRun) => ({
    stream: `${url}/cases/${name}${path}`,
    token: `${url}/cases/${name}/api/v1/stream-tokens`,
    state: `${url}/cases/${name}/api/v1/scans/${scanId}`,
    events: `${url}/cases/${name}/events`,
  });

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("cache-control", "no-store");
    if (request.method === "OPTIONS") {
      response.setHeader("access-control-allow-headers", "*, authorization");
      response.writeHead(204).end();
      return;
    }
    const { pathname } = new URL(request.url ?? "/", url);
    if (pathname === "/cases") return json(response, runs.map(listed));
    const [, name = "", part = ""] = /^\/cases\/([\w-]+)(?:\/moved)?\/(.+)$/.exec(pathname) ?? [];
    const run = byName.get(name);
    if (run === undefined) return refuse(response, 404, `No such case: GET ${url}/cases lists them`);
    if (part.endsWith("/event-stream")) return run.answerStream(request, response);
    if (part.endsWith("/stream-tokens")) return json(response, { access_token: run.issueToken(), expires_in: 60 });
    if (part === "events") return takeReport(run, request, response);
    run.readState();
    return json(response, { id: scanId, scan_id: scanId, status: "running" });
  }

  function listed(run: CaseRun) {
    const { stream, token, state, events } = addressesOf(run);
    const { name, group, promise, ends = 1 } = run.case;
    const result = run.result === null ? null : run.result.mistake === null ? "PASS" : "FAIL";
    return {
      name,
      group,
      promise,
      ends,
      stream_url: stream,
      token_url: token,
      state_url: state,
      report_url: events,
      result,
    };
  }

  return {
    url,
    addressesOf,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Lines as a client's process writes them, with POST. */
async function takeReport(run: CaseRun, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== "POST") return refuse(response, 405, "Expected POST");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > maxReportBytes) return refuse(response, 413, `Expected at most ${maxReportBytes} bytes`);
    chunks.push(chunk);
  }
  for (const line of Buffer.concat(chunks).toString().split("\n")) run.report(line);
  response.writeHead(204).end();
}

function json(response: ServerResponse, value: unknown): void {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(value));
}

function refuse(response: ServerResponse, code: number, detail: string): void {
  response.statusCode = code;
  response.setHeader("content-type", "text/plain");
  response.end(`${detail}\n`);
}
