import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApp } from "../../../../gateway/app.ts";
import { changeOf } from "../../../support/monitor_requests.ts";
import {
  problemOf,
  startTestGateway,
  createScan,
  type TestGateway,
  type TestTenant,
} from "../../../support/test_gateway.ts";
import { startReceiver, type ReceivedRequest } from "../../../support/webhook_receiver.ts";

let gateway: TestGateway;
let strict: TestGateway;

beforeAll(async () => {
  [gateway, strict] = await Promise.all([startTestGateway({ WEBHOOK_ALLOW_PRIVATE: "1" }), startTestGateway()]);
});
afterAll(() => Promise.all([gateway.stop(), strict.stop()]));

interface CreatedWebhook {
  readonly id: string;
  readonly secret: string;
}

interface ListedDelivery {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly attempts: number;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly next_attempt_at: string | null;
}

const everything = ["scan.end", "finding.created", "finding.updated", "monitor.error"];
const hook = { url: "https://hooks.example/scanstream", events: ["scan.end"] };

async function createWebhook(
  body: Readonly<Record<string, unknown>>,
  { apiKey } = gateway.acme,
): Promise<CreatedWebhook> {
  const response = await gateway.request("/api/v1/webhooks", { as: `Api-Key ${apiKey}`, json: body });
  if (response.status !== 201) throw new Error(await response.text());
  return (await response.json()) as CreatedWebhook;
}

/** A tenant of the test's own, and its requests. */
async function createTenant() {
  const tenant = await gateway.createTenant("Initech");
  const as = `Api-Key ${tenant.apiKey}`;
  const send = (method: string, path: string, json?: unknown) =>
    gateway.request(`/api/v1${path}`, { as, method, ...(json === undefined ? {} : { json }) });
  const deliveries = async (id: string, query = "") => {
    const { items } = (await (await send("GET", `/webhooks/${id}/deliveries${query}`)).json()) as {
      items: ListedDelivery[];
    };
    return items;
  };
  return { tenant, as, send, deliveries };
}

function typesOf(received: readonly ReceivedRequest[]): string[] {
  return received.map(({ body }) => (JSON.parse(body) as { type: string }).type);
}

function dataOf(request: ReceivedRequest | undefined): Record<string, unknown> {
  return (JSON.parse(request?.body ?? "{}") as { data: Record<string, unknown> }).data;
}

const finding = (fingerprint: string, status = "FAIL", more = {}) => ({
  fingerprint,
  check: `check-${fingerprint}`,
  status,
  severity: "high",
  resource: { type: "policy", id: "00p1", name: "Console" },
  ...more,
});

async function runScan(
  tenant: TestTenant,
  findings: readonly object[],
  end = "completed",
  orgUrl = "https://acme.okta.com",
) {
  const as = `Api-Key ${tenant.apiKey}`;
  const { id } = await createScan(gateway, tenant, { org_url: orgUrl });
  await gateway.request(`/api/v1/scans/${id}/findings`, { as, json: { findings } });
  const ended = await gateway.request(`/api/v1/scans/${id}`, { as, method: "PATCH", json: { status: end } });
  expect(ended.status).toBe(200);
  return id;
}

describe("the REST resources", () => {
  test("a webhook is created with a secret that is shown once, read, changed and deleted", async () => {
    const { send } = await createTenant();
    const response = await send("POST", "/webhooks", hook);
    expect(response.status).toBe(201);
    const created = (await response.json()) as CreatedWebhook;
    expect(created).toMatchObject({
      ...hook,
      format: "json",
      enabled: true,
      disabled_reason: null,
      secret_rotated_at: null,
    });
    expect(created.secret).toMatch(/^whsec_/);
    const path = `/webhooks/${created.id}`;
    expect(response.headers.get("location")).toBe(`/api/v1${path}`);
    const read = await send("GET", path);
    const { secret: _secret, ...shown } = created;
    expect(await read.json()).toEqual(shown);
    expect(await (await send("GET", "/webhooks")).json()).toEqual({ items: [shown], next_cursor: null });
    const changed = await send("PATCH", path, { events: everything, format: "slack", enabled: false });
    expect(await changed.json()).toMatchObject({ url: hook.url, events: everything, format: "slack", enabled: false });
    expect((await send("DELETE", path)).status).toBe(204);
    for (const [method, suffix] of [
      ["GET", ""],
      ["PATCH", ""],
      ["DELETE", ""],
      ["POST", "/test"],
      ["POST", "/rotate-secret"],
      ["GET", "/deliveries"],
    ] as const) {
      const gone = await send(method, path + suffix, method === "PATCH" ? {} : undefined);
      expect(await problemOf(gone), `${method} ${suffix}`).toMatchObject({ status: 404, code: "not_found" });
    }
  });

  test("another tenant's webhook is as one that never was", async () => {
    const { id } = await createWebhook(hook, gateway.globex);
    const { send, deliveries } = await createTenant();
    for (const [method, suffix] of [
      ["GET", ""],
      ["DELETE", ""],
      ["POST", "/test"],
      ["POST", "/rotate-secret"],
    ] as const) {
      expect((await send(method, `/webhooks/${id}${suffix}`)).status).toBe(404);
    }
    expect(await deliveries(id)).toBeUndefined();
    expect(await (await send("GET", "/webhooks")).json()).toEqual({ items: [], next_cursor: null });
  });

  test.each([
    [{ ...hook, url: "https://127.0.0.1/" }, "/url"],
    [{ ...hook, url: "http://hooks.example/" }, "/url"],
    [{ ...hook, url: "https://user:password@hooks.example/" }, "/url"],
    [{ ...hook, url: "nonsense" }, "/url"],
    [{ ...hook, url: `https://hooks.example/${"x".repeat(2048)}` }, "/url"],
    [{ ...hook, events: [] }, "/events"],
    [{ ...hook, events: ["scan.end", "scan.end"] }, "/events"],
    [{ ...hook, events: ["scan.start"] }, "/events/0"],
    [{ ...hook, format: "xml" }, "/format"],
    [{ ...hook, secret: "whsec_mine" }, "/secret"],
  ])("refuses %j and names what is wrong", async (body, pointer) => {
    const response = await strict.request("/api/v1/webhooks", { as: `Api-Key ${strict.acme.apiKey}`, json: body });
    const problem = await problemOf(response);
    expect(problem).toMatchObject({ status: 422, code: "invalid" });
    expect(problem.errors?.map((error) => error.pointer)).toEqual([pointer]);
    if (pointer.startsWith("/events")) {
      for (const name of everything) expect(problem.detail).toContain(name);
    }
  });

  test("a tenant has at most 20", async () => {
    const { send } = await createTenant();
    for (let n = 0; n < 20; n += 1) expect((await send("POST", "/webhooks", hook)).status).toBe(201);
    expect(await problemOf(await send("POST", "/webhooks", hook))).toMatchObject({ status: 409, code: "conflict" });
  });

  test("what people do with webhooks is in the audit trail, and no secret is", async () => {
    const { tenant, send } = await createTenant();
    const { id, secret } = await createWebhook(hook, tenant);
    await send("PATCH", `/webhooks/${id}`, { enabled: false });
    const rotated = (await (await send("POST", `/webhooks/${id}/rotate-secret`)).json()) as CreatedWebhook;
    await send("DELETE", `/webhooks/${id}`);
    const { rows } = await gateway.gateway.parts.dependencies.database.transact([
      { sql: "select set_config('role', 'scanstream_admin', true)", params: [] },
      {
        sql: "select action, actor_kind, detail::text from audit_events where tenant_id = $1 and target_id = $2 order by number",
        params: [tenant.id, id],
      },
    ]);
    expect(rows.map(([action, actor]) => [action, actor])).toEqual([
      ["webhook.created", "api_key"],
      ["webhook.updated", "api_key"],
      ["webhook.secret_rotated", "api_key"],
      ["webhook.deleted", "api_key"],
    ]);
    for (const value of [secret, rotated.secret]) expect(JSON.stringify(rows)).not.toContain(value.slice(6));
  });
});

describe("deliveries", () => {
  test("a scan's end arrives once, signed, and the receiver's library verifies it", async () => {
    await using receiver = await startReceiver();
    const { tenant, deliveries } = await createTenant();
    const { id, secret } = await createWebhook({ url: `${receiver.url}/in?a=b`, events: everything }, tenant);
    const scanId = await runScan(tenant, [finding("a")], "cancelled");
    const [request] = await receiver.waitFor(1);
    const payload = new Webhook(secret).verify(request?.body ?? "", request?.headers as Record<string, string>);
    expect(payload).toMatchObject({
      type: "scan.end",
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: { scan_id: scanId, org_url: "https://acme.okta.com", status: "cancelled", fail: 0 },
    });
    expect(request).toMatchObject({ method: "POST", path: "/in?a=b" });
    await expect
      .poll(() => deliveries(id))
      .toEqual([
        expect.objectContaining({
          id: request?.headers["webhook-id"],
          type: "scan.end",
          status: "delivered",
          attempts: 1,
          last_status: 204,
        }),
      ]);
    expect(receiver.received).toHaveLength(1);
  });

  test.each<readonly [name: string, request: RequestInit]>([
    ["ends", { method: "PATCH", body: JSON.stringify({ status: "completed" }) }],
    ["is deleted while it runs", { method: "DELETE" }],
  ])("a scan that %s is told of at once, also where nothing runs between requests", async (_name, request) => {
    const { dependencies } = gateway.gateway.parts;
    let asked = 0;
    const sendDue = async () => void (asked += 1);
    const app = createApp({ ...dependencies, webhooks: { ...dependencies.webhooks, sendDue } });
    const { id } = await createScan(gateway, gateway.acme);
    const headers = { authorization: `Api-Key ${gateway.acme.apiKey}`, "content-type": "application/json" };
    const response = await app.request(`/api/v1/scans/${id}`, { ...request, headers });
    expect([response.ok, asked]).toEqual([true, 1]);
  });

  test("only what a webhook asked for is sent to it, and nothing while it is disabled", async () => {
    await using receiver = await startReceiver();
    const { tenant, send } = await createTenant();
    const { id } = await createWebhook({ url: receiver.url, events: ["finding.created"] }, tenant);
    await runScan(tenant, []);
    await send("PATCH", `/webhooks/${id}`, { enabled: false });
    await runScan(tenant, [finding("unheard")], "completed", "https://other.okta.com");
    await send("PATCH", `/webhooks/${id}`, { enabled: true });
    await send("POST", `/webhooks/${id}/test`);
    expect(typesOf(await receiver.waitFor(1))).toEqual(["webhook.test"]);
  });

  test("finding.created lists what fails now and did not in the completed scan of the same org before, in one message", async () => {
    await using receiver = await startReceiver();
    const { tenant } = await createTenant();
    await createWebhook({ url: receiver.url, events: ["finding.created"] }, tenant);
    const many = Array.from({ length: 89 }, (_, n) =>
      finding(`f${String(n).padStart(2, "0")}`, "FAIL", { severity: "low" }),
    );
    const first = await runScan(tenant, [
      ...many,
      finding("worst"),
      finding("passes", "PASS"),
      finding("beside", "FAIL", { advisory: true }),
    ]);
    const [initial] = await receiver.waitFor(1);
    expect(dataOf(initial)).toMatchObject({ scan_id: first, previous_scan_id: null, count: 90 });
    const listed = dataOf(initial)["findings"] as { fingerprint: string }[];
    expect(listed.map(({ fingerprint }) => fingerprint).slice(0, 3)).toEqual(["worst", "f00", "f01"]);
    expect(listed).toHaveLength(50);

    // Nothing new: the same again, one of another org, one that did not complete.
    await runScan(tenant, [...many, finding("worst")]);
    await runScan(tenant, [finding("broken")], "failed");
    const second = await runScan(tenant, [finding("worst"), finding("passes"), finding("beside")]);
    const [, next] = await receiver.waitFor(2);
    expect(dataOf(next)).toMatchObject({
      scan_id: second,
      previous_scan_id: expect.not.stringMatching(first),
      count: 2,
      findings: [{ fingerprint: "beside" }, { fingerprint: "passes", resource_name: "Console" }],
    });
    await runScan(tenant, [finding("worst")], "completed", "https://other.okta.com");
    const [, , other] = await receiver.waitFor(3);
    expect(dataOf(other)).toMatchObject({ previous_scan_id: null, org_url: "https://other.okta.com", count: 1 });
  });

  test("a monitor's changes are one message, its first state none; an error is told once, a gap each time", async () => {
    await using receiver = await startReceiver();
    const { tenant, send } = await createTenant();
    await createWebhook({ url: receiver.url, events: ["finding.updated", "monitor.error"] }, tenant);
    const monitorId = crypto.randomUUID();
    const path = `/monitors/${monitorId}`;
    await send("PUT", path, { org_url: "https://acme.okta.com", interval_seconds: 10 });
    const explained = {
      uuid: "e1",
      event_type: "policy.rule.update",
      actor: { name: "Ada Admin" },
      ip_address: "192.0.2.7",
    };
    const changes = [
      { ...changeOf({ fingerprint: "a" }), explained_by: [explained] },
      changeOf({ fingerprint: "b" }),
      changeOf({ fingerprint: "start", cause: "start", from: null }),
    ];
    for (let sent = 0; sent < 2; sent += 1)
      expect((await send("POST", `${path}/changes`, { changes })).status).toBe(200);
    const [moved] = await receiver.waitFor(1);
    expect(dataOf(moved)).toMatchObject({
      monitor_id: monitorId,
      org_url: "https://acme.okta.com",
      count: 2,
      changes: [
        {
          fingerprint: "a",
          from: "PASS",
          to: "FAIL",
          actor_name: "Ada Admin",
          event_type: "policy.rule.update",
          seen_at: "2026-11-22T14:03:12.000Z",
        },
        { fingerprint: "b" },
      ],
    });
    expect(moved?.body).not.toContain("192.0.2.7");

    const error = { error_code: "log_unreadable", error_detail: "The scope is missing" };
    for (let sent = 0; sent < 2; sent += 1) await send("PATCH", path, error);
    const gap = { ...error, gap_from: "2026-11-22T14:00:00.000Z", gap_to: "2026-11-22T14:10:00.000Z" };
    await send("PATCH", path, gap);
    await send("PATCH", path, { error_code: null });
    const [, , ...rest] = await receiver.waitFor(3);
    expect(rest).toHaveLength(1);
    expect(
      receiver.received
        .slice(1)
        .map(dataOf)
        .toSorted((a, b) => String(a["gap_from"]).localeCompare(String(b["gap_from"]))),
    ).toEqual([
      {
        monitor_id: monitorId,
        org_url: "https://acme.okta.com",
        code: "log_unreadable",
        detail: "The scope is missing",
        gap_from: gap.gap_from,
        gap_to: gap.gap_to,
      },
      {
        monitor_id: monitorId,
        org_url: "https://acme.okta.com",
        code: "log_unreadable",
        detail: "The scope is missing",
        gap_from: null,
        gap_to: null,
      },
    ]);
  });

  test("a receiver that answers 410 disables the webhook, and says so in the list", async () => {
    await using receiver = await startReceiver({ answer: (response) => response.writeHead(410).end() });
    const { tenant, send, deliveries } = await createTenant();
    const { id } = await createWebhook({ url: receiver.url, events: ["scan.end"] }, tenant);
    await send("POST", `/webhooks/${id}/test`);
    await expect
      .poll(async () => (await send("GET", `/webhooks/${id}`)).json())
      .toMatchObject({ enabled: false, disabled_reason: "gone" });
    await expect.poll(() => deliveries(id, "?status=dead")).toMatchObject([{ status: "dead", last_status: 410 }]);
    for (const path of ["test", `deliveries/${(await deliveries(id))[0]?.id}/replay`]) {
      expect(await problemOf(await send("POST", `/webhooks/${id}/${path}`))).toMatchObject({ status: 409 });
    }
    expect(await (await send("PATCH", `/webhooks/${id}`, { enabled: true })).json()).toMatchObject({
      enabled: true,
      disabled_reason: null,
    });
  });

  test("a failed delivery is retried under the same id after 5 s, and can be replayed by hand before that", async () => {
    let fails = true;
    await using receiver = await startReceiver({
      answer: (response) => (fails ? response.writeHead(500).end("Out of \0 order") : response.writeHead(200).end()),
    });
    const { tenant, send, deliveries } = await createTenant();
    const { id } = await createWebhook({ url: receiver.url, events: ["scan.end"] }, tenant);
    const queuedMs = Date.now();
    const queued = (await (await send("POST", `/webhooks/${id}/test`)).json()) as ListedDelivery;
    await expect
      .poll(() => deliveries(id))
      .toMatchObject([{ status: "pending", attempts: 1, last_status: 500, last_error: "HTTP 500: Out of   order" }]);
    const [failed] = await deliveries(id);
    const inMs = Date.parse(failed?.next_attempt_at ?? "") - queuedMs;
    expect(inMs).toBeGreaterThan(4900);
    expect(inMs).toBeLessThan(15_000);
    fails = false;
    const replayed = await send("POST", `/webhooks/${id}/deliveries/${queued.id}/replay`);
    expect(replayed.status).toBe(202);
    const requests = await receiver.waitFor(2);
    expect(requests.map(({ headers }) => headers["webhook-id"])).toEqual([queued.id, queued.id]);
    await expect
      .poll(() => deliveries(id, "?status=delivered"))
      .toMatchObject([{ attempts: 2, last_error: null, next_attempt_at: null }]);
    expect(await deliveries(id, "?status=dead")).toEqual([]);
    expect(await problemOf(await send("GET", `/webhooks/${id}/deliveries?status=lost`))).toMatchObject({ status: 400 });
    const unknown = await send("POST", `/webhooks/${id}/deliveries/${crypto.randomUUID()}/replay`);
    expect(await problemOf(unknown)).toMatchObject({ status: 404 });
  });

  test("one test of a webhook is pending at a time, and with 1,000 deliveries pending nothing more is queued by hand", async () => {
    const { tenant, send, deliveries } = await createTenant();
    const { id } = await createWebhook({ url: "http://127.0.0.1:9/", events: ["scan.end"] }, tenant);
    const tests = await Promise.all(Array.from({ length: 8 }, () => send("POST", `/webhooks/${id}/test`)));
    expect(tests.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      202,
      ...Array.from({ length: 7 }, () => 409),
    ]);
    const [pending] = await deliveries(id);
    const { rows } = await gateway.gateway.parts.dependencies.database.transact([
      { sql: "select set_config('role', 'scanstream_admin', true)", params: [] },
      {
        sql: `with given as (
            select n, case when n = 0 then 'dead' else 'pending' end as status from generate_series(0, 999) as n
          ), queued as (
            insert into webhook_deliveries (tenant_id, webhook_id, type, data, status, next_attempt_at)
            select $1, $2, 'scan.end', '{}', status, now() + interval '1 hour' from given returning id, status
          ) select id from queued where status = 'dead'`,
        params: [tenant.id, id],
      },
    ]);
    expect(pending?.type).toBe("webhook.test");
    for (const path of ["/test", `/deliveries/${String(rows[0]?.[0])}/replay`]) {
      const refused = await send("POST", `/webhooks/${id}${path}`);
      expect(refused.status).toBe(409);
      expect((await problemOf(refused)).detail).toContain("Limit of 1000 pending deliveries of this webhook reached");
    }
  });

  test("no secret and no URL of a webhook reaches the log", async () => {
    await using receiver = await startReceiver({ answer: (response) => response.writeHead(410).end() });
    const { tenant, send } = await createTenant();
    const { id, secret } = await createWebhook({ url: `${receiver.url}/T0/secret-path`, events: ["scan.end"] }, tenant);
    await send("POST", `/webhooks/${id}/test`);
    // Other tests disable webhooks, too.
    const ownLines = () => gateway.log.filter((line) => line.includes(id)).join("");
    await expect.poll(ownLines).toContain("a webhook was disabled");
    expect(gateway.log.join("")).not.toContain("secret-path");
    expect(gateway.log.join("")).not.toContain(secret);
  });
});
