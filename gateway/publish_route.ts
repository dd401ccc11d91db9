import { Hono } from "hono";
import { AppError, PermissionDenied } from "../shared/app_error.ts";
import { canReadChannel } from "../shared/channel_name.ts";
import { encodeEvent, maxPayloadBytes, toMessage } from "../shared/event.ts";
import { readJson } from "./body.ts";
import type { Dependencies } from "./dependencies.ts";
import { InvalidBody } from "./problem.ts";
import { requireApiKey } from "./require_api_key.ts";

/** JSON may write each byte of a payload as a six-byte escape; the payload itself is measured after it was read. */
const maxBodyBytes = maxPayloadBytes * 6 + 4096;

/** With this, and the time that the database may take for the key, the answer comes within the 20 s that were promised. */
const publishTimeoutMs = 10_000;

/** Publishing over HTTP, for producers that have a key and no broker. */
export function publishRoute({ authenticator, publisher, metrics }: Dependencies): Hono {
  const routes = new Hono();

  routes.post("/:channel/events", async (c) => {
    const principal = await authenticator.authenticate(c.req.raw);
    requireApiKey(principal);
    const channel = c.req.param("channel");
    if (!canReadChannel(principal, channel)) {
      throw new PermissionDenied(
        "The channel is not one of this key's tenant: expected <prefix>:<tenant_id>:<resource_id>",
      );
    }
    const { type, data } = parseEventBody(await readJson(c.req.raw, { maxBytes: maxBodyBytes }));
    const message = toMessage(encodeEvent(type, data));
    await handOver(() => publisher.publish(channel, message));
    return c.json({ channel, type }, 202);
  });

  async function handOver(publish: () => Promise<void>): Promise<void> {
    try {
      await withinTime(publish());
      metrics.eventPublished("taken");
    } catch (error) {
      metrics.eventPublished("unavailable");
      throw error;
    }
  }

  return routes;
}

function parseEventBody(body: unknown): { readonly type: unknown; readonly data: unknown } {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new InvalidBody([{ pointer: "", detail: "expected a JSON object with type and data" }]);
  }
  return { type: "type" in body ? body.type : undefined, data: "data" in body ? body.data : undefined };
}

/** The broker may still take the event after this: at most once is promised for a 503, not never. */
async function withinTime(published: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new AppError("unavailable", "The broker did not take the event in time", { retryAfterSeconds: 2 }));
    }, publishTimeoutMs);
  });
  try {
    await Promise.race([published, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
