/** A request as the org sees it, whatever server received it. */
export interface PracticeRequest {
  readonly method: string;
  /** Without the query, as it came over the wire. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export interface PracticeResponse {
  readonly status: number;
  /** Pairs, because the provider repeats `link` as lines of their own. */
  readonly headers: readonly Header[];
  readonly body: string;
}

export type Header = readonly [name: string, value: string];

export function json(status: number, body: unknown, headers: readonly Header[] = []): PracticeResponse {
  return { status, headers: [["content-type", "application/json"], ...headers], body: JSON.stringify(body) };
}

/** The form of every refusal of the OAuth endpoints. */
export function oauthError(
  status: number,
  error: string,
  description: string,
  headers: readonly Header[] = [],
): PracticeResponse {
  return json(status, { error, error_description: description }, headers);
}

/** Seconds since the epoch, as tokens and rate limits count. */
export function epochSeconds(nowMs: number): number {
  return Math.floor(nowMs / 1000);
}
