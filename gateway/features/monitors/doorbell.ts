import { pause } from "../../../shared/abortable.ts";
import { Hono, type Context } from "hono";
import { openTo } from "../../auth/access.ts";
import { findDoorbells, type FoundDoorbell } from "../../../drizzle/across_tenants.ts";
import { withTenant } from "../../../drizzle/with_tenant.ts";
import { AppError, NotFound } from "../../../shared/app_error.ts";
import { isUuid } from "../../../shared/channel_name.ts";
import { verificationSchema } from "../../../shared/schemas/monitor.ts";
import { uuid } from "../../../shared/schemas/primitives.ts";
import { createSteadyClock } from "../../../shared/steady_clock.ts";
import { toHex } from "../../../shared/hex.ts";
import { sha256Hex } from "../../auth/sha256.ts";
import { readBytes } from "../../http/body.ts";
import type { FeatureDependencies } from "../../http/dependencies.ts";
import { component, describeHandler, json, pathParameter, problem, refusals } from "../../description/operation.ts";
import { withoutCredentials, type Operation } from "../../description/operation.ts";
import { afterResponse } from "../after_response.ts";
import { announce } from "../announce.ts";
import { monitorChannel, publishMonitorProgress } from "./events.ts";
import { ringDoorbell } from "./monitor_store.ts";

/**
 * A monitor's doorbell: the provider's event hook calls it when something happened, and the producer polls the log at
 * once. Hooks are unsigned, so their bodies are not read for what they say: a forged one costs one poll.
 */

const maxBodyBytes = 1_048_576;
const maxChallengeLength = 1024;
/** The bound is the database's, by its clock; with this the second attempt is not a moment too early. */
const pollHookAgainAfterMs = 1050;
/** The provider waits 3 s for the answer. */
const publishing = { attemptsAfterMs: [0, 200], waitMs: 1500 };

/** 256 random bits, so a fast hash without salt is enough. */
export async function createDoorbell(): Promise<{ readonly secret: string; readonly hash: string }> {
  const secret = `scd_${toHex(crypto.getRandomValues(new Uint8Array(32)))}`;
  return { secret, hash: await sha256Hex(secret) };
}

export function doorbellPath(monitorId: string): string {
  return `/hooks/okta/${monitorId}`;
}

const hook: Pick<Operation, "tags" | "security"> = { tags: ["hooks"], security: withoutCredentials };
const hookParameter = pathParameter("id", "The monitor's id", uuid());
const noSuchHook = { 404: problem("No such hook") };

const verification: Operation = {
  ...hook,
  operationId: "verifyDoorbell",
  summary: "Answer the provider's one-time verification",
  parameters: [
    hookParameter,
    {
      name: "x-okta-verification-challenge",
      in: "header",
      required: true,
      schema: { type: "string", minLength: 1, maxLength: maxChallengeLength },
    },
  ],
  responses: {
    200: json(component("Verification", verificationSchema), "The challenge", { example: { verification: "x" } }),
    ...refusals(400, 503),
    ...noSuchHook,
  },
};

const ring: Operation = {
  ...hook,
  operationId: "ringDoorbell",
  summary: "Ring the doorbell: the producer polls now",
  description:
    "The Authorization header is the doorbell's secret, and nothing else. The body is ignored. Publishes " +
    "`monitor.progress`, at most once a second.",
  parameters: [hookParameter],
  responses: {
    204: { description: "Rung, now or within the last second" },
    ...refusals(400, 401, 413, 503),
    ...noSuchHook,
  },
};

export function doorbellRoutes(dependencies: FeatureDependencies): Hono {
  const { database } = dependencies;
  const routes = new Hono();
  const announceRing = createRingAnnouncer(dependencies);

  /** The one-time verification: https://developer.okta.com/docs/concepts/event-hooks/#one-time-verification-request */
  routes.get("/okta/:id", describeHandler(openTo("public"), verification), async (c) => {
    await doorbellsOf(c.req.param("id"));
    const challenge = c.req.header("x-okta-verification-challenge") ?? "";
    if (challenge !== "" && challenge.length <= maxChallengeLength) return c.json({ verification: challenge });
    throw new AppError("malformed", "The header x-okta-verification-challenge is missing or too long");
  });

  routes.post("/okta/:id", describeHandler(openTo("public"), ring), async (c) => {
    const monitorId = c.req.param("id");
    const given = await sha256Hex(c.req.header("authorization") ?? "");
    const doorbell = (await doorbellsOf(monitorId)).find(({ hash }) => isEqual(given, hash));
    if (doorbell === undefined) {
      throw new AppError("not_authenticated", "The Authorization header is not the doorbell's secret");
    }
    const { tenantId } = doorbell;
    await readBytes(c.req.raw, maxBodyBytes);
    const isFirst = await withTenant(database, tenantId, (db) => ringDoorbell(db, monitorId));
    await announceRing(c, { tenantId, monitorId, isFirst });
    return c.body(null, 204);
  });

  return routes;

  async function doorbellsOf(monitorId: string): Promise<readonly FoundDoorbell[]> {
    const doorbells = isUuid(monitorId) ? await findDoorbells(database, monitorId) : [];
    if (doorbells.length === 0) throw new NotFound("No such hook");
    return doorbells;
  }
}

interface Ring {
  readonly tenantId: string;
  readonly monitorId: string;
  /** True for the first ring of its second; the database decides. */
  readonly isFirst: boolean;
}

/** What a ring leads to, once it is stored: the producer hears it now, or one more a moment later. */
export function createRingAnnouncer({
  database,
  publisher,
  log,
  nowMs,
}: FeatureDependencies): (c: Context, ring: Ring) => Promise<void> {
  /** By channel; a time, so that a request that was cancelled keeps no place. */
  const ringingAgainUntilMs = new Map<string, number>();
  const steadyMs = createSteadyClock(nowMs);

  return async (c, { tenantId, monitorId, isFirst }) => {
    if (isFirst) await publishRing(tenantId, monitorId);
    else afterResponse(c, pollHookAgain(tenantId, monitorId));
  };

  async function publishRing(tenantId: string, monitorId: string): Promise<void> {
    const channel = monitorChannel(tenantId, monitorId);
    await announce(
      {
        publish: [(to) => publishMonitorProgress(to, channel, { monitor_id: monitorId, doorbell: true })],
        failure: { fields: { monitor_id: monitorId }, message: "a doorbell could not be published" },
      },
      { publisher, log, ...publishing },
    );
  }

  /** The producer's poll after the last ring may have been too early for what this one is about. One at a time. Never rejects. */
  async function pollHookAgain(tenantId: string, monitorId: string): Promise<void> {
    const channel = monitorChannel(tenantId, monitorId);
    if (steadyMs() < (ringingAgainUntilMs.get(channel) ?? 0)) return;
    ringingAgainUntilMs.set(channel, steadyMs() + 2 * pollHookAgainAfterMs);
    try {
      await pause(pollHookAgainAfterMs, []);
      ringingAgainUntilMs.delete(channel);
      const isFirst = await withTenant(database, tenantId, (db) => ringDoorbell(db, monitorId));
      if (isFirst) await publishRing(tenantId, monitorId);
    } catch (error) {
      log.warn({ monitor_id: monitorId, error }, "a doorbell could not be rung again");
    }
  }
}

/** In a time that does not depend on where two hashes differ. */
function isEqual(given: string, stored: string): boolean {
  let difference = given.length ^ stored.length;
  for (let index = 0; index < stored.length; index += 1) {
    difference |= given.charCodeAt(index) ^ stored.charCodeAt(index);
  }
  return difference === 0;
}
