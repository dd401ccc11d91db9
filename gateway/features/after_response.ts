import type { Context } from "hono";

/** Lets work that never rejects go on after the response: Workers end what a request has not announced when it is answered. */
export function afterResponse(c: Context, work: Promise<void>): void {
  try {
    c.executionCtx.waitUntil(work);
  } catch {
    // No such context elsewhere: it goes on by itself.
  }
}
