import type { ManualReason, StatusCounts } from "../../shared/report.ts";
import { stateOf } from "../../shared/rule_result.ts";
import type { FindingCreated } from "../../shared/scan_events.ts";
import { openGateway } from "../../shared/client/gateway_client.ts";
import { findingEvents, numbered } from "./published.ts";

/** A scanner at a gateway, step by step, over HTTP and with an API key. */
export interface ScanProducer {
  register(body: object): Promise<ProducedScan>;
}

export interface ProducedScan {
  readonly id: string;
  readonly tenantId: string;
  readonly channel: string;
  update(body: object): Promise<void>;
  store(findings: readonly StoredFinding[]): Promise<void>;
  publish(type: string, data: object): Promise<void>;
  /** Publishes one check with its findings, as a scanner does. */
  check(
    name: string,
    findings: readonly StoredFinding[],
    progress: { readonly done: number; readonly total: number },
  ): Promise<void>;
  end(status: string, counts: Partial<StatusCounts>): Promise<void>;
}

export interface StoredFinding extends Omit<FindingCreated, "scan_id"> {
  readonly cause?: string;
  readonly to_pass?: string;
  readonly read_from?: string;
  readonly evaluation?: string;
  readonly reason: ManualReason | null;
  readonly resource_type: string;
  readonly resource_id: string;
  readonly expected: string;
  readonly actual: string;
}

export function createScanProducer(gatewayUrl: string, apiKey: string): ScanProducer {
  const gateway = openGateway({ url: gatewayUrl, apiKey, timeoutMs: 60_000 });
  const call = async (method: string, path: string, body: object) =>
    (await gateway.send(method, path, { body })) as Record<string, unknown>;

  return {
    async register(registration) {
      const scan = await call("POST", "/api/v1/scans", registration);
      const id = String(scan["id"]);
      const counts = { pass: 0, fail: 0, manual: 0, not_applicable: 0 };
      const channel = String(scan["channel"]);
      const update = async (body: object) => void (await call("PATCH", `/api/v1/scans/${id}`, body));
      const events = `/api/v1/channels/${encodeURIComponent(channel)}/events`;
      const store = async (findings: readonly StoredFinding[]) => {
        for (let from = 0; from < findings.length; from += 500) {
          await call("POST", events, findingEvents(id, findings.slice(from, from + 500)));
        }
      };
      const publish = async (type: string, data: object) =>
        void (await call("POST", events, numbered([{ type, data: { scan_id: id, ...data } }])));
      return {
        id,
        tenantId: String(scan["tenant_id"]),
        channel,
        update,
        store,
        publish,
        async check(name, findings, { done, total }) {
          const verdict = findings.find((finding) => finding.status === "FAIL") ?? findings[0];
          const { status, reason } = verdict ?? { status: "PASS", reason: null };
          counts[stateOf({ status, reason })] += 1;
          await store(findings);
          await update({ status: "running", checks_done: done, checks_total: total, ...counts });
          await publish("scan.progress", { checks_done: done, checks_total: total, check: name, status, reason });
        },
        // The gateway publishes `scan.end`.
        async end(status, counts) {
          const done = Object.values(counts).reduce((sum, count) => sum + count, 0);
          await update({ status, checks_done: done, ...counts });
        },
      };
    },
  };
}

let findingCount = 0;

/** A finding with everything a test does not care about filled in. */
export function buildFinding(change: Partial<StoredFinding> = {}): StoredFinding {
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
