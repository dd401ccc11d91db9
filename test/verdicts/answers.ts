/** The organization's answer to one GET. */
export interface Answer {
  readonly status: number;
  /** Names in lower case; only those that a client may depend on (`kept`). */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The headers that are recorded. The date and the rate limit are made at replay, by its own clock. */
export const keptHeaders = ["content-type", "link", "www-authenticate", "retry-after", "location"] as const;

/** Answers a path with its query, or throws for one that nothing is known of. */
export type Answering = (path: string) => Answer | Promise<Answer>;

export const orgUrl = "https://acme.okta.com";
export const startMs = Date.parse("2026-11-21T12:00:00.000Z");
export const tokenPath = "/oauth2/v1/token";

export function json(status: number, body: unknown, headers: Answer["headers"] = {}): Answer {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}

/** A Bearer token of every scope that is asked for. */
export function grantToken(form: URLSearchParams): Answer {
  return json(200, {
    token_type: "Bearer",
    expires_in: 3600,
    access_token: "replayed-token",
    scope: form.get("scope") ?? "",
  });
}
