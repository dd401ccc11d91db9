import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Database } from "../../../../drizzle/database.ts";
import {
  claimDeliveries,
  deliveryBacklog,
  expireStaleScans,
  markStaleMonitors,
} from "../../../../drizzle/across_tenants.ts";
import { type SendWebhook } from "../../../../gateway/features/webhooks/attempt.ts";
import { createDeliverer, deliverFor, type DelivererOptions } from "../../../../gateway/features/webhooks/deliver.ts";
import { receiverOf } from "../../../../gateway/features/webhooks/address.ts";
import { recordAttempt, type AttemptOutcome } from "../../../../gateway/features/webhooks/delivery_store.ts";
import { silentLog } from "../../../../gateway/observability/log.ts";
import { openTestPglite } from "../../../support/pglite.ts";

let database: Database;

beforeAll(async () => {
  database = await openTestPglite();
});
afterAll(() => database.close());
beforeEach(() => sql("delete from tenants"));

/** As scanstream_admin. */
async function sql(text: string, params: readonly unknown[] = []): Promise<readonly (readonly unknown[])[]> {
  const role = { sql: "select set_config('role', 'scanstream_admin', true)", params: [] };
  return (await database.transact([role, { sql: text, params }])).rows;
}

async function createTenant(): Promise<string> {
  const [row] = await sql("insert into tenants (name) values ('Acme') returning id");
  return String(row?.[0]);
}

/** A webhook with so many deliveries that are due. */
async function createWebhook(
  host: string,
  deliveries = 1,
  tenantId?: string,
): Promise<{ id: string; tenantId: string }> {
  const tenant = tenantId ?? (await createTenant());
  const [row] = await sql(
    `insert into webhooks (tenant_id, url, host, events, secret)
     values ($1, 'https://' || $2 || '/', $3, '{scan.end}', '{whsec_c2VjcmV0}') returning id`,
    [tenant, host, receiverOf(`https://${host}/`)],
  );
  const id = String(row?.[0]);
  await sql(
    `insert into webhook_deliveries (tenant_id, webhook_id, type, data, next_attempt_at)
     select $1, $2, 'scan.end', '{}', now() - interval '1 second' from generate_series(1, $3::integer)`,
    [tenant, id, deliveries],
  );
  return { id, tenantId: tenant };
}

async function statuses(): Promise<Record<string, number>> {
  const rows = await sql("select status, count(*)::integer from webhook_deliveries group by 1");
  return Object.fromEntries(rows) as Record<string, number>;
}

const makeDue = () => sql("update webhook_deliveries set next_attempt_at = now() where status = 'pending'");

interface Tried {
  readonly host: string;
  readonly id: string;
}

/** A sender that records what it gets; hosts that begin with `slow` answer only when they are told to. */
function createRecorder(status: number = 204) {
  const tried: Tried[] = [];
  const outcomes: AttemptOutcome[] = [];
  const waiting: (() => void)[] = [];
  let open = 0;
  let most = 0;
  const send: SendWebhook = async ({ url, headers, signal }) => {
    const { host } = new URL(url);
    tried.push({ host, id: headers["webhook-id"] ?? "" });
    open += 1;
    most = Math.max(most, open);
    try {
      if (host.startsWith("slow")) {
        await new Promise<void>((resolve, reject) => {
          waiting.push(resolve);
          signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        });
      }
      return { status, text: "" };
    } finally {
      open -= 1;
    }
  };
  const options: DelivererOptions = {
    database,
    send,
    rules: { allowPrivate: false },
    log: silentLog,
    metrics: { webhookAttempted: (outcome) => outcomes.push(outcome) },
    nowMs: Date.now,
  };
  return {
    tried,
    outcomes,
    options,
    most: () => most,
    answerSlow: () => {
      for (const answer of waiting.splice(0)) answer();
    },
  };
}

describe("receivers that are slow or down", () => {
  test("have at most 4 requests at once, and the others get theirs meanwhile", async () => {
    const tenantId = await createTenant();
    await createWebhook("slow.example", 20, tenantId);
    await createWebhook("quick.example", 20, tenantId);
    const recorder = createRecorder();
    const deliverer = createDeliverer(recorder.options);
    await deliverer.sendDue();
    await expect.poll(() => recorder.tried.filter(({ host }) => host === "quick.example").length).toBe(20);
    expect(recorder.tried.filter(({ host }) => host === "slow.example")).toHaveLength(4);
    await expect.poll(statuses).toEqual({ delivered: 20, pending: 20 });
    const answering = setInterval(recorder.answerSlow, 5);
    await deliverer.idle();
    clearInterval(answering);
    expect(await statuses()).toEqual({ delivered: 40 });
  });

  test("of one tenant leave room for another's, however many names they have", async () => {
    const hostile = await createTenant();
    for (let n = 0; n < 15; n += 1) await createWebhook(`slow${n}.example`, 4, hostile);
    const recorder = createRecorder();
    const deliverer = createDeliverer(recorder.options);
    await deliverer.sendDue();
    await expect.poll(() => recorder.tried.length).toBe(8);
    await createWebhook("quick.example");
    await deliverer.sendDue();
    await expect.poll(() => recorder.tried.map(({ host }) => host)).toContain("quick.example");
    expect(recorder.tried).toHaveLength(9);
    await deliverer.stop();
  });

  test("hide nobody, also where they are all of what a claim looks at", async () => {
    const tenantId = await createTenant();
    await createWebhook("slow.example", 600, tenantId);
    await sql("update webhook_deliveries set next_attempt_at = now() - interval '1 minute'");
    await createWebhook("quick.example", 1, tenantId);
    const recorder = createRecorder();
    const deliverer = createDeliverer(recorder.options);
    await deliverer.sendDue();
    await expect.poll(() => recorder.tried.map(({ host }) => host)).toContain("quick.example");
    expect(recorder.tried).toHaveLength(5);
    await deliverer.stop();
  });

  test("of one tenant delay no other tenant of the same host, at the same port or another", async () => {
    await createWebhook("slow.example:8443", 50);
    await createWebhook("slow.example", 50);
    const recorder = createRecorder();
    const deliverer = createDeliverer(recorder.options);
    await deliverer.sendDue();
    await expect.poll(() => recorder.tried.length).toBe(8);
    for (const host of ["slow.example", "slow.example:8443"]) await createWebhook(host);
    await deliverer.sendDue();
    await expect.poll(() => recorder.tried.length).toBe(10);
    // The bound of a host on top: of 14 requests more there are 6.
    for (let n = 0; n < 14; n += 1) await createWebhook(`slow.example:${9000 + n}`);
    await deliverer.sendDue();
    await expect.poll(() => recorder.tried.length).toBe(16);
    await deliverer.sendDue();
    expect(recorder.tried).toHaveLength(16);
    await deliverer.stop();
  });

  test("of many tenants take turns with the one that waits for the first time", async () => {
    for (let n = 0; n < 7; n += 1) {
      const hostile = await createTenant();
      for (const part of ["a", "b"]) await createWebhook(`slow-${part}${n}.example`, 20, hostile);
    }
    const recorder = createRecorder();
    const deliverer = createDeliverer(recorder.options);
    await deliverer.sendDue();
    await expect.poll(recorder.most).toBe(50);
    await createWebhook("quick.example");
    recorder.answerSlow();
    await expect.poll(() => recorder.tried.length).toBeGreaterThan(50);
    await expect.poll(() => recorder.tried.slice(50, 60).map(({ host }) => host)).toContain("quick.example");
    await deliverer.stop();
  });
});

test("two gateways at one database send each delivery once", async () => {
  for (let n = 0; n < 10; n += 1) await createWebhook(`host${n}.example`, 6);
  const recorder = createRecorder();
  const gateways = [createDeliverer(recorder.options), createDeliverer(recorder.options)];
  await Promise.all(gateways.map((gateway) => gateway.sendDue()));
  await Promise.all(gateways.map((gateway) => gateway.idle()));
  expect(recorder.tried).toHaveLength(60);
  expect(new Set(recorder.tried.map(({ id }) => id)).size).toBe(60);
  expect(await statuses()).toEqual({ delivered: 60 });
});

test("what a gateway had claimed when it died is sent by another after the lease, and a late result changes nothing", async () => {
  await createWebhook("hooks.example");
  const claim = (leaseSeconds: number) => claimDeliveries(database, { most: 10, leaseSeconds, underWay: [] });
  const [dead] = await claim(60);
  expect(await claim(60)).toEqual([]);
  await makeDue();
  const recorder = createRecorder();
  const deliverer = createDeliverer(recorder.options);
  await deliverer.sendDue();
  await deliverer.idle();
  expect(recorder.tried.map(({ id }) => id)).toEqual([dead?.id]);
  if (dead === undefined) throw new Error("Nothing was claimed");
  const late = { kind: "failed", status: 500, error: "late" } as const;
  await recordAttempt(database, dead, { result: late, random: Math.random });
  expect(await sql("select status, attempts, last_error from webhook_deliveries")).toEqual([["delivered", 2, null]]);
});

test("a delivery that fails is sent after 5 s, 30 s, 5 min, 30 min, 2 h and 8 h, then it is dead", async () => {
  await createWebhook("hooks.example");
  const recorder = createRecorder(503);
  const deliverer = createDeliverer({ ...recorder.options, random: () => 0 });
  const waits: number[] = [];
  for (let attempt = 0; attempt < 7; attempt += 1) {
    await deliverer.sendDue();
    await deliverer.idle();
    const { dueInSeconds } = await deliveryBacklog(database);
    if (dueInSeconds !== null) waits.push(dueInSeconds);
    await makeDue();
  }
  // What has passed since the attempt counts already.
  const delays = [5, 30, 300, 1800, 7200, 28_800];
  expect(waits).toHaveLength(delays.length);
  for (const [at, delay] of delays.entries()) {
    expect(waits[at]).toBeLessThanOrEqual(delay);
    expect(waits[at]).toBeGreaterThan(delay - 4);
  }
  expect(await sql("select status, attempts, last_status, last_error from webhook_deliveries")).toEqual([
    ["dead", 7, 503, "HTTP 503"],
  ]);
  expect(recorder.outcomes).toEqual([...Array.from({ length: 6 }, () => "failed"), "dead"]);
  expect(new Set(recorder.tried.map(({ id }) => id)).size).toBe(1);
  await deliverer.sendDue();
  await deliverer.idle();
  expect(recorder.tried).toHaveLength(7);
});

test.each([
  ["was revoked", "revoked_at = now()"],
  ["has expired", "expires_at = now()"],
  ["lost a scope", "scopes = '{admin}'"],
])("a webhook whose API key %s is disabled, and nothing of it is sent", async (_what, change) => {
  const { id, tenantId } = await createWebhook("hooks.example", 3);
  const [key] = await sql(
    `insert into api_keys (tenant_id, name, prefix, hash, scopes) values ($1, 'maker', 'scs_1', $2, '{read,admin}') returning id`,
    [tenantId, randomBytes(32).toString("hex")],
  );
  const [enabled] = await changeAs(
    tenantId,
    `api_key:${String(key?.[0])}`,
    "update webhooks set enabled = true returning made_by",
  );
  expect(enabled).toEqual(key);
  await sql(`update api_keys set ${change}`);
  const recorder = createRecorder();
  const deliverer = createDeliverer(recorder.options);
  await deliverer.sendDue();
  await deliverer.idle();
  expect(recorder.tried).toEqual([]);
  expect(await sql("select enabled, disabled_reason from webhooks where id = $1", [id])).toEqual([
    [false, "key_ended"],
  ]);
  expect(
    await sql("select actor_kind from audit_events where action = 'webhook.updated' order by number desc limit 1"),
  ).toEqual([["gateway"]]);
  await changeAs(tenantId, "user:ann", "update webhooks set enabled = true, disabled_reason = null");
  await deliverer.sendDue();
  await deliverer.idle();
  expect(recorder.tried).toHaveLength(3);
});

/** As the application's role. */
async function changeAs(tenantId: string, actor: string, text: string): Promise<readonly (readonly unknown[])[]> {
  const begin =
    "select set_config('role', 'scanstream_app', true), set_config('app.tenant_id', $1, true), set_config('app.actor', $2, true)";
  return (
    await database.transact([
      { sql: begin, params: [tenantId, actor] },
      { sql: text, params: [] },
    ])
  ).rows;
}

test("a URL that the rules refuse by now is not requested", async () => {
  await createWebhook("127.0.0.1");
  const recorder = createRecorder();
  const deliverer = createDeliverer(recorder.options);
  await deliverer.sendDue();
  await deliverer.idle();
  expect(recorder.tried).toEqual([]);
  expect(recorder.outcomes).toEqual(["failed"]);
});

test("stopping releases what is under way for another gateway, without counting it as failed", async () => {
  await createWebhook("slow.example");
  const recorder = createRecorder();
  const deliverer = createDeliverer(recorder.options);
  await deliverer.sendDue();
  await expect.poll(() => recorder.tried).toHaveLength(1);
  await deliverer.stop();
  expect(recorder.outcomes).toEqual(["interrupted"]);
  const [row] = await sql("select status, failures, next_attempt_at <= now() from webhook_deliveries");
  expect(row).toEqual(["pending", 0, true]);
});

test("deliverFor sends what falls due within its time, and ends when nothing more does", async () => {
  await createWebhook("hooks.example");
  await sql("update webhook_deliveries set next_attempt_at = now() + interval '1.2 seconds'");
  const recorder = createRecorder();
  await deliverFor(500, recorder.options);
  expect(recorder.tried).toHaveLength(0);
  await deliverFor(10_000, recorder.options);
  expect(recorder.tried).toHaveLength(1);
});

test("of a webhook 1,000 deliveries are pending at most: what comes then is dead, and says why", async () => {
  const { tenantId } = await createWebhook("hooks.example", 999);
  const queue = () => sql("select scanstream.queue_webhooks($1, 'scan.end', '{}')", [tenantId]);
  await queue();
  await queue();
  expect(await statuses()).toEqual({ pending: 1000, dead: 1 });
  const [row] = await sql("select last_error from webhook_deliveries where status = 'dead'");
  expect(row?.[0]).toBe("Not sent: 1000 deliveries of this webhook were pending already");
});

test("deliveries are kept for 30 days, and those of a disabled webhook wait", async () => {
  const { id } = await createWebhook("hooks.example", 3);
  await sql(`update webhook_deliveries set created_at = now() - interval '31 days', status = 'delivered', delivered_at = now()
    where id in (select id from webhook_deliveries limit 1)`);
  await sql("update webhooks set enabled = false where id = $1", [id]);
  const recorder = createRecorder();
  const deliverer = createDeliverer(recorder.options);
  await deliverer.sendDue();
  await deliverer.idle();
  expect(recorder.tried).toEqual([]);
  expect(await statuses()).toEqual({ pending: 2 });
  expect(await deliveryBacklog(database)).toEqual({ pending: 0, dueInSeconds: null });
});

test("what the gateway itself ends or finds silent is queued too", async () => {
  const { tenantId } = await createWebhook("hooks.example", 0);
  await sql("update webhooks set events = '{scan.end,monitor.error}'");
  await sql("insert into scans (tenant_id, updated_at) values ($1, now() - interval '16 minutes')", [tenantId]);
  await sql(
    `insert into monitors (id, tenant_id, org_url, interval_seconds, updated_at)
     values (gen_random_uuid(), $1, 'https://acme.okta.com', 10, '2026-11-22T09:30:00Z')`,
    [tenantId],
  );
  expect(await expireStaleScans(database, 15)).toHaveLength(1);
  expect(await markStaleMonitors(database)).toHaveLength(1);
  expect(await markStaleMonitors(database)).toHaveLength(0);
  const told = await sql(
    "select type, coalesce(data ->> 'status', data ->> 'code'), data ->> 'detail' from webhook_deliveries order by 1",
  );
  expect(told).toEqual([
    ["monitor.error", "stale", "The monitor has not reported since 2026-11-22T09:30:00.000Z"],
    ["scan.end", "expired", null],
  ]);
});
