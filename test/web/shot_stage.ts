import { randomUUID } from "node:crypto";
import { createPracticeOrg } from "../../practice_org/create_practice_org.ts";
import type { Role } from "../../shared/schemas/team.ts";
import { aChange, anExplanation } from "../support/change_builders.ts";
import { produceMonitor } from "../support/monitor_producer.ts";
import { scanPracticeOrg } from "../support/scan_practice_org.ts";
import type { ProducedScan, StoredFinding } from "../support/scan_producer.ts";
import { startWebGateway, type WebGateway, type WebTenant } from "../support/web_gateway.ts";

/** What the pictures of the page show: tenants that have nothing, one organization, several, or hundreds. */
export interface ShotStage extends AsyncDisposable {
  readonly gateway: WebGateway;
  /** This one is stopped while somebody looks. */
  readonly awayGateway: WebGateway;
  readonly tenants: Readonly<Record<ShotTenant, WebTenant>>;
  readonly ids: Readonly<Record<ShotId, string>>;
}

export type ShotTenant = "acme" | "auditor" | "away" | "empty" | "large" | "one" | "running" | "viewer";
export type ShotId =
  | "before"
  | "blindOrg"
  | "endedOrg"
  | "failed"
  | "finished"
  | "finding"
  | "monitoredOrg"
  | "running"
  | "scannedOrg"
  | "staleOrg";

const dayMs = 86_400_000;
const start = { from: null, cause: "start", explained_by: [] } as const;
const pass = { status: "PASS", reason: null } as const;
const fail = { status: "FAIL", reason: null } as const;
/** The member whose token the page has. */
const self = "member@acme.test";

/** `tick`: called between things that are stored one after the other. */
export async function openShotStage(tick: () => void = () => undefined): Promise<ShotStage> {
  const [gateway, awayGateway] = await Promise.all([startWebGateway(), startWebGateway()]);
  const acme = await gateway.createTenant("Acme Corporation");
  const auditor = await gateway.createTenant("Globex");
  const empty = await gateway.createTenant("Initech");
  const large = await gateway.createTenant("Umbrella Holdings");
  const one = await gateway.createTenant("Hooli");
  const running = await gateway.createTenant("Wayne Enterprises");
  const viewer = await gateway.createTenant("Stark Industries");
  const away = await awayGateway.createTenant("Acme Corporation");
  const tenants = { acme, auditor, away, empty, large, one, running, viewer };
  const roles: readonly [WebTenant, Role][] = [
    [acme, "admin"],
    [running, "operator"],
    [auditor, "auditor"],
    [viewer, "viewer"],
  ];
  for (const [tenant, role] of roles) {
    tick();
    await gateway.addMember(tenant, self, role);
  }
  const [typical, compliant] = await Promise.all([realFindings("typical"), realFindings("compliant")]);
  const ids = await fillAcme(gateway, acme);
  await fillLarge(large, tick);
  for (const tenant of [auditor, one, viewer, away]) {
    await scanned(tenant, "https://hooli.okta.com", { findings: improved(typical, compliant), tick });
  }
  return {
    gateway,
    awayGateway,
    tenants,
    ids,
    async [Symbol.asyncDispose]() {
      await Promise.all([gateway[Symbol.asyncDispose](), awayGateway[Symbol.asyncDispose]()]);
    },
  };

  async function fillAcme(of: WebGateway, tenant: WebTenant): Promise<ShotStage["ids"]> {
    const call = createCall(of, tenant);
    const before = await scanned(tenant, "https://acme.okta.com", { findings: typical, tick });
    tick();
    const finished = await scanned(tenant, "https://acme.okta.com", { findings: improved(typical, compliant), tick });
    tick();
    const failed = await tenant.producer.register({ org_url: "https://emea.acme.okta.com", checks_total: 29 });
    const read = typical.slice(0, 8);
    await store(failed, read, 8);
    await failed.publish("scan.error", {
      code: "provider_error",
      detail: "The org answered 503 to three requests in a row",
    });
    await failed.end("failed", { fail: new Set(read.filter(hasFailed).map(({ check }) => check)).size });
    const monitored = await watchedForAYear(
      createCall(of, tenant, `Api-Key ${tenant.apiKey}`),
      "https://prod.acme.okta.com",
    );
    for (const [name, org] of [
      ["stale", "https://labs.acme.okta.com"],
      ["ended", "https://old.acme.okta.com"],
      ["blind", "https://partners.acme.okta.com"],
    ] as const) {
      tick();
      const hours = name === "stale" ? {} : { interval_seconds: 3600 };
      const monitor = await produceMonitor(of.url, tenant.apiKey, { org_url: org, ...hours });
      await monitor.store(
        compliant.map((finding, index) => firstState(finding, name === "stale" && index === 0 ? fail : pass)),
      );
      const rules = new Set(compliant.map(({ check }) => check)).size;
      const failed = name === "stale" ? 1 : 0;
      await monitor.update({ checks_total: rules, pass: rules - failed, fail: failed, manual: 0 });
      if (name === "ended") await monitor.update({ status: "ended" });
      if (name === "blind") await monitor.update({ log_status: "unreadable" });
      if (name === "stale") await of.silenceMonitor(tenant, monitor.id);
    }
    await decide(call, typical, tick);
    const scan = await running.producer.register({ org_url: "https://apac.wayne.okta.com", checks_total: 29 });
    await store(scan, typical.slice(0, 30), 16);
    const orgs = (await call("GET", "/organizations?limit=200")) as {
      readonly items: readonly { readonly id: string; readonly org_url: string }[];
    };
    const idOf = (url: string) => orgs.items.find(({ org_url }) => org_url === url)?.id ?? "";
    return {
      before: before.id,
      finished: finished.id,
      failed: failed.id,
      running: scan.id,
      finding: typical.find(({ status, expected }) => status === "FAIL" && expected.length < 60)?.fingerprint ?? "",
      monitoredOrg: idOf(monitored),
      scannedOrg: idOf("https://acme.okta.com"),
      blindOrg: idOf("https://partners.acme.okta.com"),
      staleOrg: idOf("https://labs.acme.okta.com"),
      endedOrg: idOf("https://old.acme.okta.com"),
    };
  }
}

function hasFailed({ status }: StoredFinding): boolean {
  return status === "FAIL";
}

type Call = (method: string, path: string, json?: object) => Promise<unknown>;

/** By default as the member whose page it is, so that what is made has an author. */
function createCall(gateway: WebGateway, tenant: WebTenant, authorization = `Bearer ${tenant.accessToken}`): Call {
  return async (method, path, json) => {
    const response = await fetch(`${gateway.url}/api/v1${path}`, {
      method,
      headers: { authorization, "content-type": "application/json" },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    if (!response.ok) throw new Error(`Cannot ${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
}

/** What a real scan finds in a practice org, under the name of an organization. */
async function realFindings(name: "compliant" | "typical"): Promise<readonly StoredFinding[]> {
  const org = await createPracticeOrg({ profile: { name }, role: "super" });
  try {
    const { results } = await scanPracticeOrg(org);
    // Checks end in another order on each run.
    const sorted = results.toSorted((a, b) => (a.check < b.check ? -1 : 1));
    const rows = sorted.flatMap(({ check, severity, findings }) =>
      findings.map(({ resource, to_pass = null, evaluation = null, ...finding }) => ({
        ...finding,
        to_pass,
        evaluation,
        check,
        severity,
        resource_type: resource.type,
        resource_id: resource.id,
        resource_name: resource.name,
      })),
    );
    return JSON.parse(JSON.stringify(rows).replaceAll(new URL(org.url).host, "acme.okta.com")) as StoredFinding[];
  } finally {
    await org.stop();
  }
}

/** The same org, after half of its rules were put right. */
function improved(typical: readonly StoredFinding[], compliant: readonly StoredFinding[]): readonly StoredFinding[] {
  const checks = [...new Set(typical.map(({ check }) => check))];
  const done = new Set(checks.filter((_check, index) => index % 3 === 0));
  return [...typical.filter(({ check }) => !done.has(check)), ...compliant.filter(({ check }) => done.has(check))];
}

async function store(scan: ProducedScan, findings: readonly StoredFinding[], done: number): Promise<void> {
  const checks = [...new Set(findings.map(({ check }) => check))];
  for (const [index, check] of checks.entries()) {
    await scan.check(
      check,
      findings.filter((finding) => finding.check === check),
      { done: Math.min(done, index + 1), total: 29 },
    );
  }
}

async function scanned(
  tenant: WebTenant,
  orgUrl: string,
  { findings, tick }: { readonly findings: readonly StoredFinding[]; readonly tick: () => void },
): Promise<ProducedScan> {
  const scan = await tenant.producer.register({ org_url: orgUrl, checks_total: 29, client_id: "0oa1b2c3d4e5f6g7h8i9" });
  tick();
  await store(scan, findings, 29);
  tick();
  await scan.update({ status: "completed", checks_done: 29 });
  return scan;
}

function firstState(finding: StoredFinding, to: { readonly status: "PASS" | "FAIL"; readonly reason: null }) {
  const { check, fingerprint, resource_type: type, resource_id: id, resource_name: name, actual } = finding;
  return aChange({ ...start, check, fingerprint, resource: { type, id, name }, actual, to });
}

/** A look a day, and some changes by people, one of which nobody explains. */
async function watchedForAYear(call: Call, orgUrl: string): Promise<string> {
  const begin = Date.now() - 300 * dayMs;
  const at = (day: number, minutes = 0) => new Date(begin + day * dayMs + minutes * 60_000).toISOString();
  const path = `/monitors/${randomUUID()}`;
  await call("PUT", path, { org_url: orgUrl, interval_seconds: 86_400, client_id: "0oa9z8y7x6w5v4u3t2s1" });
  const rules = [
    ["signon_global_session_idle_timeout_15min", "00p1", "Default Policy", "15 minutes", "120 minutes"],
    ["application_admin_console_mfa_required", "0oa1", "Okta Admin Console", "2 factors", "1 factor"],
    ["authenticator_password_minimum_length_15", "00p2", "Contractors", "15 characters", "8 characters"],
    ["systemlog_streaming_enabled", "org", "Log streams", "1 active", "0 active"],
  ] as const;
  type Move = readonly [rule: number, day: number, isFail: boolean, who: string | null];
  const moves: readonly Move[] = [
    ...rules.map((_rule, index): Move => [index, 0, index === 2, null]),
    [2, 64, false, "Ada Admin"],
    [0, 110, true, "Sam Sysop"],
    [1, 110, true, "Sam Sysop"],
    [0, 131, false, "Ada Admin"],
    [1, 112, false, "Ada Admin"],
    [3, 205, true, null],
    [3, 240, false, "Ada Admin"],
    [0, 299.9, true, "Sam Sysop"],
    [1, 299.9, true, "Sam Sysop"],
    [3, 299.95, true, null],
  ];
  const states = new Map<number, typeof pass | typeof fail>();
  const transactions = new Map<string, string>();
  for (let day = 0; day <= 300; day += 1) {
    const changes = moves
      .filter(([, on]) => on > day - 1 && on <= day)
      .map(([rule, on, isFail, who]) => {
        const [check, id, name, good, bad] = rules[rule] ?? rules[0];
        const from = states.get(rule) ?? null;
        const to = isFail ? fail : pass;
        states.set(rule, to);
        const transaction = transactions.get(`${on}${who}`) ?? randomUUID();
        transactions.set(`${on}${who}`, transaction);
        const actor = { id: `00u${who}`, type: "User", login: null, name: who };
        const explanation = anExplanation({ published: at(on), actor, transaction_id: transaction, uuid: transaction });
        return aChange({
          check,
          fingerprint: `${check}:${id}`,
          resource: { type: "policy", id, name },
          from,
          to,
          actual: isFail ? bad : good,
          seen_at: at(on, 1),
          cause: from === null ? "start" : who === null ? "reconciliation" : "log",
          explained_by: who === null ? [] : [explanation],
        });
      });
    if (changes.length > 0) await call("POST", `${path}/changes`, { changes });
    // Some days on which nobody looked.
    if (day > 64 && day % 97 < 4) continue;
    const looked = { last_look_at: at(day, 2), log_status: "reading", lag_seconds: 1 };
    await call("PATCH", path, { ...looked, checks_total: 4, pass: 1, fail: 3, manual: 0 });
  }
  return orgUrl;
}

async function decide(call: Call, findings: readonly StoredFinding[], tick: () => void): Promise<void> {
  const expires = new Date(Date.now() + 60 * dayMs).toISOString().slice(0, 10);
  const open = findings.filter(hasFailed).slice(3, 6);
  for (const [index, { check, resource_id: resource }] of open.entries()) {
    tick();
    const reason = index === 0 ? "Moves to the new directory in January, ticket OPS-4711" : "Accepted by the CISO";
    const body = { kind: "waiver", org_url: "https://acme.okta.com", check, reason };
    await call("POST", "/decisions", { ...body, ...(index < 2 ? { resource, expires } : {}) });
  }
  const manual = findings.find(({ status, reason }) => status === "MANUAL" && reason === "needs_review");
  if (manual === undefined) return;
  const attested = { kind: "attestation", org_url: "https://acme.okta.com", check: manual.check, status: "PASS" };
  await call("POST", "/decisions", { ...attested, reason: "Compared each authority with the DoD's list", expires });
}

/** Two hundred organizations, of which some are bad in different ways. */
async function fillLarge({ producer }: WebTenant, tick: () => void): Promise<void> {
  const places = [
    "Amsterdam",
    "Berlin",
    "Chicago",
    "Denver",
    "Essen",
    "Fukuoka",
    "Geneva",
    "Hamburg",
    "Izmir",
    "Jakarta",
  ];
  for (let index = 0; index < 200; index += 1) {
    if (index % 10 === 0) tick();
    const host = `${places[index % 10]?.toLowerCase()}-${Math.floor(index / 10) + 1}.okta.com`;
    const scan = await producer.register({ org_url: `https://${host}`, checks_total: 3 });
    const is = (every: number) => index % every === every - 1;
    const rows = [
      { check: "application_admin_console_mfa_required", severity: "high", status: is(19) ? "FAIL" : "PASS" },
      { check: "signon_global_session_idle_timeout_15min", severity: "medium", status: is(7) ? "FAIL" : "PASS" },
      { check: "systemlog_streaming_enabled", severity: "medium", status: index === 113 ? "FAIL" : "PASS" },
    ] as const;
    const filled = { reason: null, resource_type: "app", resource_id: "1", resource_name: "One" } as const;
    const texts = { expected: "on", actual: "off", detail: "It is off." };
    await scan.store(rows.map((row) => ({ ...filled, ...texts, ...row, fingerprint: row.check })));
    await scan.update({ status: "completed", checks_done: 3 });
  }
}
