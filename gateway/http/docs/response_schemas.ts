import { eventSchemas, uuid } from "./request_schemas.ts";

/** JSON Schemas of what the API answers; a test holds real answers against them. */
const time = { type: "string", format: "date-time" };
const count = { type: "integer", minimum: 0 };
const text = { type: "string" };

const upOrAway = { enum: ["ok", "away"] };

function object(properties: Readonly<Record<string, unknown>>, required = Object.keys(properties)) {
  return { type: "object", properties, required };
}

function orNull(schema: { readonly type: string; readonly format?: string }) {
  return { ...schema, type: [schema.type, "null"] };
}

function page(schema: string) {
  return object({
    items: { type: "array", items: { $ref: `#/components/schemas/${schema}` } },
    next_cursor: { ...orNull(text), description: "Null at the end" },
  });
}

export const responseSchemas = {
  Scan: object({
    id: uuid,
    tenant_id: uuid,
    channel: { ...text, description: "Where its events are published" },
    event_stream: { ...text, description: "Path of its event stream" },
    status: { enum: ["pending", "running", "completed", "cancelled", "failed", "expired"] },
    org_url: orNull(text),
    client_id: orNull(text),
    checks_total: { ...count, description: "0 while nobody has said how many" },
    checks_done: count,
    pass: count,
    fail: count,
    manual: count,
    cancel_requested: { type: "boolean" },
    created_at: time,
    updated_at: { ...time, description: "The producer's last sign of life" },
    started_at: orNull(time),
    ended_at: orNull(time),
  }),
  ScanPage: page("Scan"),
  Finding: object({
    fingerprint: text,
    check: text,
    status: { enum: ["PASS", "FAIL", "MANUAL"] },
    reason: orNull(text),
    severity: { enum: ["high", "medium", "low"] },
    resource_type: text,
    resource_id: text,
    resource_name: text,
    expected: text,
    actual: text,
    detail: text,
    coverage: { enum: ["full", "partial"], description: "partial: a PASS that is narrower than its rule" },
    coverage_reason: { ...orNull(text), description: "What of the rule a partial PASS leaves to a person" },
    advisory: { type: "boolean", description: "true: it does not count for the check's status" },
    created_at: time,
  }),
  FindingPage: page("Finding"),
  StoredFindings: object({ received: count, created: count, updated: count }),
  StreamToken: object({ access_token: text, expires_in: { const: 60 } }),
  ...eventSchemas,
  TakenEvents: {
    anyOf: [object({ channel: text, type: text }), object({ channel: text, count: { type: "integer", minimum: 1 } })],
    description: "Of one event its type, of a batch how many they were",
  },
  Health: object({ status: { const: "ok" } }),
  Ready: object({ status: { const: "ready" }, checks: { $ref: "#/components/schemas/Checks" } }),
  NotReady: {
    allOf: [{ $ref: "#/components/schemas/Problem" }, object({ checks: { $ref: "#/components/schemas/Checks" } })],
  },
  Checks: object({ database: upOrAway, broker: upOrAway, draining: { type: "boolean" } }),
  Problem: object(
    {
      type: { type: "string", format: "uri" },
      title: text,
      status: { type: "integer" },
      detail: text,
      code: text,
      errors: { type: "array", items: object({ pointer: text, detail: text }) },
    },
    ["type", "title", "status", "detail", "code"],
  ),
} as const;
