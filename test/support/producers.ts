import { randomUUID } from "node:crypto";
import { openGateway } from "../../shared/client/gateway_client.ts";
import type { StatusCounts } from "../../shared/report.ts";
import { countStates, stateOf, worstVerdict } from "../../shared/rule_result.ts";
import type { FindingCreated } from "../../shared/schemas/scan.ts";
import type { NewChange } from "../../shared/schemas/change.ts";
import type { MonitorUpdate, NewMonitor } from "../../shared/schemas/monitor.ts";
import { changeEvents, findingEvents, numbered } from "./published.ts";

type NewFinding = Omit<FindingCreated, "scan_id">;
export type Producer = ReturnType<typeof createProducer>;

/** A scanner and a follower at a gateway, step by step, over HTTP and with an API key. */
export function createProducer(url: string, apiKey: string) {
  const gateway = openGateway({ url, apiKey, timeoutMs: 60_000 });
  const call = async (method: string, path: string, body?: object) =>
    (await gateway.send(method, `/api/v1${path}`, body === undefined ? {} : { body })) as Record<string, unknown>;
  const publishOn = (channel: unknown, body: object) =>
    call("POST", `/channels/${encodeURIComponent(String(channel))}/events`, body);

  return {
    register,

    /** A scan that has completed with these findings. */
    async scanned(findings: readonly NewFinding[], { org_url = "https://acme.okta.com", benchmark = "v1r2" } = {}) {
      const verdicts = findings.map(({ check, status, reason = null }) => ({ check, status, reason }));
      const rules = [...Map.groupBy(verdicts, ({ check }) => check).values()].map(worstVerdict);
      const scan = await register({ org_url, benchmark, checks_total: rules.length });
      await scan.store(findings);
      await scan.end("completed", countStates(rules));
      return scan;
    },

    /** A monitor that has just polled, with an interval of 10 s. */
    async follow(body: Partial<NewMonitor> = {}) {
      const path = `/monitors/${randomUUID()}`;
      const monitor = { org_url: "https://acme.okta.com", interval_seconds: 10, checks_total: 29, ...body };
      const { id, channel } = await call("PUT", path, monitor);
      const update = async (report: MonitorUpdate) => void (await call("PATCH", path, report));
      const poll = { last_look_at: new Date().toISOString(), lag_seconds: 1, log_status: "reading" } as const;
      await update({ ...poll, pass: 27, fail: 1, manual: 1 });
      return {
        id: String(id),
        update,
        store: async (changes: readonly NewChange[]) =>
          void (await publishOn(channel, changeEvents(String(id), changes))),
        delete: async () => void (await call("DELETE", path)),
      };
    },
  };

  async function register(registration: object) {
    const scan = await call("POST", "/scans", registration);
    const id = String(scan["id"]);
    const counts = { pass: 0, fail: 0, manual: 0, not_applicable: 0 };
    const update = async (body: object) => void (await call("PATCH", `/scans/${id}`, body));
    const store = async (findings: readonly NewFinding[]) => {
      for (let from = 0; from < findings.length; from += 500)
        await publishOn(scan["channel"], findingEvents(id, findings.slice(from, from + 500)));
    };
    const publish = async (type: string, data: object) =>
      void (await publishOn(scan["channel"], numbered([{ type, data: { scan_id: id, ...data } }])));
    return {
      id,
      tenantId: String(scan["tenant_id"]),
      channel: String(scan["channel"]),
      update,
      store,
      publish,
      /** Publishes one check with its findings, as a scanner does. */
      async check(
        name: string,
        findings: readonly NewFinding[],
        { done, total }: { readonly done: number; readonly total: number },
      ) {
        const verdict = findings.find((finding) => finding.status === "FAIL") ?? findings[0];
        const { status = "PASS", reason = null } = verdict ?? {};
        counts[stateOf({ status, reason })] += 1;
        await store(findings);
        await update({ status: "running", checks_done: done, checks_total: total, ...counts });
        await publish("scan.progress", { checks_done: done, checks_total: total, check: name, status, reason });
      },
      /** The gateway publishes `scan.end`. */
      async end(status: string, ended: Partial<StatusCounts>) {
        const done = Object.values(ended).reduce((sum, count) => sum + count, 0);
        await update({ status, checks_done: done, ...ended });
      },
    };
  }
}

let findingCount = 0;

/** A finding with everything a test does not care about filled in. */
export function buildFinding(change: Partial<NewFinding> = {}): NewFinding {
  findingCount += 1;
  const resourceName = change.resource_name ?? `Resource ${findingCount}`;
  return {
    fingerprint: `f${findingCount}`,
    check: "signon_global_session_idle_timeout_15min",
    status: "FAIL",
    severity: "medium",
    reason: change.status === "MANUAL" ? "needs_review" : null,
    resource_type: "policy",
    resource_id: `00p${findingCount}`,
    resource_name: resourceName,
    expected: "at most 15 minutes",
    actual: "120 minutes",
    detail: `${resourceName} lets a session idle for 120 minutes; at most 15 minutes are allowed.`,
    ...change,
  };
}
