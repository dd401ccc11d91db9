import type { PracticeRequest } from "./messages.ts";

/** A page of another site can reach a port of this machine under its own name; it has another host then. */
export function isLoopbackHost(host: string): boolean {
  return /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(host);
}

/** Sent by a page of another origin. */
export function isForeign({ headers }: PracticeRequest): boolean {
  const origin = headers.get("origin");
  const site = headers.get("sec-fetch-site");
  return (
    (origin !== undefined && origin !== `http://${headers.get("host") ?? ""}`) ||
    (site !== undefined && !/^(?:same-origin|none)$/.test(site))
  );
}
