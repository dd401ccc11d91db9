import { networkProblem } from "../error_code.ts";
import { GatewayRefusal } from "../http_refusal.ts";
import { createRestClient, UnexpectedAnswer, type RestClient, type RestOptions } from "./rest_client.ts";

export interface GatewayOptions extends Omit<RestOptions, "fetch"> {
  readonly apiKey: string;
  readonly fetch?: typeof fetch;
}

/** The gateway's resources for whoever has an API key, as the command line does. */
export function openGateway({ apiKey, fetch: send = fetch, ...options }: GatewayOptions): RestClient {
  const withKey: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Api-Key ${apiKey}`);
    return send(input, { ...init, headers });
  };
  return createRestClient({ ...options, fetch: withKey });
}

/** In words: `fetch` says no more than "fetch failed", and names the reason only in its cause. */
export function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return "it cannot be reached";
  if (isTimeout(error)) return "it does not answer";
  if (error instanceof UnexpectedAnswer) return `${error.message}; does SCANSTREAM_URL name a scanstream gateway?`;
  if (error instanceof GatewayRefusal) {
    const { httpStatus, detail } = error;
    return detail === null
      ? `HTTP status ${httpStatus}; is SCANSTREAM_URL the address of a scanstream gateway?`
      : `${httpStatus} ${detail}${httpStatus === 401 ? "; check SCANSTREAM_API_KEY" : ""}`;
  }
  const problem = networkProblem(error.cause);
  if (problem === null && error.message !== "fetch failed") return error.message;
  return `${problem ?? "the connection failed"}; check SCANSTREAM_URL, and that the gateway runs`;
}

/** The call took longer than its time. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}
