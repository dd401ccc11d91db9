export interface Traceparent {
  readonly traceId: string;
  /** The caller's span. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

const traceparentPattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;

/** https://www.w3.org/TR/trace-context/#traceparent-header; null for anything else. */
export function parseTraceparent(header: string | null): Traceparent | null {
  const [, traceId, spanId, flags] = traceparentPattern.exec(header ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
