import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import type { AddressInfo } from "node:net";

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code?: number };
  readonly service: Readonly<Record<string, unknown>>;
}

/** A collector of traces: OTLP over HTTP with JSON, as its specification says. */
export interface OtlpReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  readonly headers: readonly IncomingMessage["headers"][];
  /** From now on requests are accepted and never answered. */
  silence(): void;
  stop(): Promise<void>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const headers: IncomingMessage["headers"][] = [];
  let isSilent = false;

  const server = createServer((request, response) => void receive(request, response));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "POST" || request.url !== "/v1/traces") {
      response.writeHead(404).end();
      return;
    }
    if (request.headers["content-type"] !== "application/json") {
      response.writeHead(415).end();
      return;
    }
    if (isSilent) return;
    headers.push(request.headers);
    spans.push(...parseSpans((await json(request)) as OtlpTraces));
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers,
    silence() {
      isSilent = true;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

interface OtlpTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

type OtlpSpan = Omit<ReceivedSpan, "attributes" | "service"> & { readonly attributes: readonly OtlpAttribute[] };

interface OtlpAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

function parseSpans({ resourceSpans }: OtlpTraces): readonly ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        attributes: toRecord(span.attributes),
        service: toRecord(resource.attributes),
      })),
    ),
  );
}

function toRecord(attributes: readonly OtlpAttribute[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
