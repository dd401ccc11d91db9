import packageJson from "../../../package.json" with { type: "json" };

/** The events of scans, https://www.asyncapi.com/docs/reference/specification/v3.0.0 */
export interface AsyncApi {
  readonly asyncapi: "3.0.0";
  readonly info: Readonly<Record<string, unknown>>;
  readonly channels: Readonly<Record<string, unknown>>;
  readonly operations: Readonly<Record<string, unknown>>;
  readonly components: { readonly messages: Readonly<Record<string, EventMessage>> };
}

interface EventMessage {
  readonly name: string;
  readonly summary: string;
  readonly contentType: string;
  readonly payload: { readonly properties: Readonly<Record<string, unknown>> };
}

export function describeEvents(): AsyncApi {
  const messages = {
    scanStart: message("scan.start", "The scan has begun", { scan_id: uuid, checks_total: count }),
    scanProgress: message("scan.progress", "A check was evaluated", {
      scan_id: uuid,
      checks_done: count,
      checks_total: count,
      check: text,
      status,
    }),
    findingCreated: message("finding.created", "A check has found something", {
      scan_id: uuid,
      check: text,
      status,
      severity: { enum: ["high", "medium", "low"] },
      resource_name: text,
      detail: text,
      fingerprint: text,
      coverage: { enum: ["full", "partial"], description: "partial: a PASS that is narrower than its rule" },
      advisory: { type: "boolean", description: "true: it does not count for the check's status" },
    }),
    scanError: message("scan.error", "Something kept the scan from an answer", {
      scan_id: uuid,
      code: text,
      detail: text,
    }),
    scanEnd: message("scan.end", "The last event: the stream closes after it", {
      scan_id: uuid,
      status: { enum: ["completed", "cancelled", "failed", "expired"] },
      pass: count,
      fail: count,
      manual: count,
    }),
  };
  return {
    asyncapi: "3.0.0",
    info: {
      title: "scanstream events",
      version: packageJson.version,
      description:
        "Server-sent events. `event:` carries the type, `data:` one line of flat JSON. There is no replay: a client reads " +
        "the scan again on every open. Comments are heartbeats, and `: close <reason>` before the gateway closes.",
      license: { name: "Apache 2.0" },
    },
    channels: {
      scan: {
        address: "scan:{tenant_id}:{scan_id}",
        title: "One scan",
        description: "Read at /api/v1/scans/{scan_id}/event-stream, written at /api/v1/channels/{channel}/events.",
        parameters: { tenant_id: { description: "The scan's own tenant" }, scan_id: { description: "The scan's id" } },
        messages: Object.fromEntries(
          Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
        ),
      },
    },
    operations: {
      followScan: {
        action: "send",
        channel: { $ref: "#/channels/scan" },
        summary: "The gateway sends to each follower",
      },
      publishScan: { action: "receive", channel: { $ref: "#/channels/scan" }, summary: "The scanner publishes" },
    },
    components: { messages },
  };
}

const uuid = { type: "string", format: "uuid" };
const count = { type: "integer", minimum: 0 };
const text = { type: "string" };
const status = { enum: ["PASS", "FAIL", "MANUAL"] };

function message(name: string, summary: string, properties: Readonly<Record<string, unknown>>): EventMessage {
  const payload = { type: "object", properties, required: Object.keys(properties) };
  return { name, summary, contentType: "application/json", payload };
}
