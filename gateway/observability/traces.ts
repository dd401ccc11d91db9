/** Spans of what the gateway does for a request. None exists on Workers, whose platform traces by itself. */
export interface Traces {
  /**
   * Runs a request within its own span. The span ends when the head of the answer is there, also that of a stream, and
   * what goes on after it is not traced.
   */
  request(request: TracedRequest, handle: (span: SpanIds) => Promise<Answer>): Promise<void>;
}

interface TracedRequest {
  readonly method: string;
  /** The `traceparent` header. */
  readonly traceparent: string | null;
  readonly requestId: string;
}

interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

interface Answer {
  /** A template: a URL may hold a token. */
  readonly route: string;
  readonly status: number;
}

/** For the parts that a request uses. */
export interface PartTraces extends Traces {
  /** Runs the work within a span below the request's; outside of a request only runs it. */
  part<Result>(part: TracedPart, work: () => Promise<Result>): Promise<Result>;
  /** Says more about the current request. */
  annotate(attributes: SpanAttributes): void;
  /** Sends what is left, within a second. */
  close(): Promise<void>;
}

export interface TracedPart {
  readonly name: string;
  readonly kind: "client" | "producer";
  readonly attributes: SpanAttributes;
}

/** Never a credential, a query or a value of a statement. */
export type SpanAttributes = Readonly<Record<string, string | number>>;
