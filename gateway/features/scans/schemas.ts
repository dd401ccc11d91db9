import * as v from "valibot";
import { isUuid } from "../../../shared/channel_name.ts";

/** What a body may hold, field by field. The API description is made from the same schemas. */

const maxInteger = 2_147_483_647;

const countMessage = `expected an integer from 0 to ${maxInteger}`;
const count = v.pipe(
  v.number(countMessage),
  v.integer(countMessage),
  v.minValue(0, countMessage),
  v.maxValue(maxInteger, countMessage),
);

/** Postgres text holds no NUL, and a half surrogate pair is no character. */
function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

function text(minLength: number, maxLength: number) {
  const message = `expected text of ${minLength} to ${maxLength} characters, without NUL`;
  return v.pipe(
    v.string(message),
    v.minLength(minLength, message),
    v.maxLength(maxLength, message),
    v.check(isStorable, message),
  );
}

const addressMessage = "expected an address like https://acme.okta.com";
const webAddress = v.pipe(
  v.string(addressMessage),
  v.maxLength(2048, addressMessage),
  v.check(isWebAddress, addressMessage),
);

/** A page may show it as a link, so nothing but a web address gets in. */
function isWebAddress(value: string): boolean {
  if (!isStorable(value) || !URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return (protocol === "https:" || protocol === "http:") && username === "" && password === "";
}

function uuid(message: string) {
  return v.pipe(
    v.string(message),
    v.check((value) => isUuid(value), message),
  );
}

function fieldMessage(issue: v.BaseIssue<unknown>): string {
  if (issue.expected === "never") return "is not a field of this body";
  return issue.received === "undefined" ? "is required" : "expected a JSON object";
}

export const newScanSchema = v.strictObject(
  {
    org_url: v.nullish(webAddress),
    client_id: v.nullish(text(1, 200)),
    checks_total: v.optional(count),
  },
  fieldMessage,
);

/** `expired` is the gateway's own word; nothing goes back to `pending`. */
const producerStatus = v.picklist(
  ["running", "completed", "cancelled", "failed"],
  "expected running, completed, cancelled or failed",
);

export const scanUpdateSchema = v.strictObject(
  {
    status: v.optional(producerStatus),
    checks_done: v.optional(count),
    checks_total: v.optional(count),
    pass: v.optional(count),
    fail: v.optional(count),
    manual: v.optional(count),
  },
  fieldMessage,
);

export type ScanUpdate = v.InferOutput<typeof scanUpdateSchema>;
export type NewScan = v.InferOutput<typeof newScanSchema>;

const longText = text(0, 65_536);
const name = text(0, 2048);

/** Other fields, like those a report's finding has, are ignored. */
const findingSchema = v.object(
  {
    fingerprint: text(1, 200),
    check: text(1, 200),
    status: v.picklist(["PASS", "FAIL", "MANUAL"], "expected PASS, FAIL or MANUAL"),
    reason: v.nullish(
      v.picklist(
        [
          "missing_scope",
          "missing_role",
          "not_available",
          "provider_error",
          "unreadable",
          "not_applicable",
          "needs_review",
        ],
        "expected a reason of the report schema, or null",
      ),
    ),
    severity: v.optional(v.picklist(["high", "medium", "low"], "expected high, medium or low"), "medium"),
    resource_type: v.optional(name),
    resource_id: v.optional(name),
    resource_name: v.optional(name),
    /** As a report writes it; the flat fields win. */
    resource: v.optional(
      v.object({ type: v.optional(name, ""), id: v.optional(name, ""), name: v.optional(name, "") }, fieldMessage),
    ),
    expected: v.optional(longText, ""),
    actual: v.optional(longText, ""),
    detail: v.optional(longText, ""),
    coverage: v.optional(v.picklist(["full", "partial"], "expected full or partial"), "full"),
    coverage_reason: v.nullish(longText),
    advisory: v.optional(v.boolean("expected true or false"), false),
  },
  fieldMessage,
);

const maxFindings = 1000;
const findingsMessage = `expected an array of at most ${maxFindings} findings`;

export const newFindingsSchema = v.strictObject(
  { findings: v.pipe(v.array(findingSchema, findingsMessage), v.maxLength(maxFindings, findingsMessage)) },
  fieldMessage,
);

export type NewFinding = v.InferOutput<typeof findingSchema>;

export const streamTokenRequestSchema = v.strictObject({ scan_id: uuid("expected the UUID of a scan") }, fieldMessage);
