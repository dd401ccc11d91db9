import { toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import { verbs } from "../../../shared/verbs.ts";

/** What requests may hold, as JSON Schemas that are as strict as the code: what one allows, the other takes. */

export type JsonSchema = Readonly<Record<string, unknown>>;

const uuidPattern = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

/** A canonical UUID, in lower case. */
export const uuid = { type: "string", format: "uuid", pattern: `^${uuidPattern}$` } as const;

export const channelName = {
  type: "string",
  pattern: `^[a-z0-9][a-z0-9-]*:${uuidPattern}:[A-Za-z0-9._~-]+$`,
} as const;

export const cursor = { type: "string", minLength: 1, maxLength: 2048, pattern: "^[A-Za-z0-9_-]+$" } as const;

const byte = "(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])";
const host = `(?:(?:[A-Za-z0-9-]+\\.)*[A-Za-z][A-Za-z0-9-]*|${byte}(?:\\.${byte}){3}|\\[::1\\])`;
const port = "(?::(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))";

/** Without a user or a password. */
const webAddress = { type: "string", maxLength: 2048, pattern: `^https?://${host}${port}?(?:[/?#][^\\s\\u0000]*)?$` };

const scalar = { type: ["string", "number", "boolean", "null"] };

export const eventSchemas = {
  NewEvent: {
    type: "object",
    description: "An event whose type ends in `.end` carries the UUID of its resource as `<resource>_id`.",
    properties: {
      type: {
        type: "string",
        maxLength: 200,
        pattern: `^[a-z][a-z0-9_]*\\.(${verbs.join("|")})$`,
        description: "`<resource>.<verb>`",
      },
      data: {
        type: "object",
        description: "Flat; at most 64 KiB as JSON in UTF-8",
        additionalProperties: { anyOf: [scalar, { type: "array", items: scalar }] },
      },
      delivery_id: {
        type: "string",
        pattern: "^[A-Za-z0-9_-]{1,64}\\.[0-9]{1,15}$",
        description: "`<producer>.<n>`, with n rising: an event that is sent again under its id is passed on once",
      },
    },
    required: ["type", "data"],
    not: { required: ["events"] },
  },
  NewEvents: {
    type: "object",
    description: "All of them are published, in order, or none",
    properties: {
      events: { type: "array", minItems: 1, maxItems: 500, items: { $ref: "#/components/schemas/NewEvent" } },
    },
    required: ["events"],
  },
} as const;

/** What cannot be read off a check that only code can make, by the name of its field. */
const fields: Readonly<Record<string, JsonSchema>> = { org_url: webAddress, scan_id: uuid };
/** The database stores no NUL. */
const storedText = { pattern: "^[^\\u0000]*$" };

/** Describes a body by the schema that checks it. */
export function describeBody(schema: GenericSchema): JsonSchema {
  const { $schema: _dialect, ...described } = toJsonSchema(schema, { errorMode: "ignore" });
  return narrowTexts(described, "") as JsonSchema;
}

function narrowTexts(schema: unknown, field: string): unknown {
  if (Array.isArray(schema)) return schema.map((part) => narrowTexts(part, field));
  if (typeof schema !== "object" || schema === null) return schema;
  const parts = Object.entries(schema).map(([key, part]) =>
    key === "properties"
      ? [key, Object.fromEntries(Object.entries(part as JsonSchema).map(([name, of]) => [name, narrowTexts(of, name)]))]
      : [key, narrowTexts(part, field)],
  );
  const narrowed = Object.fromEntries(parts) as JsonSchema;
  if (narrowed["type"] !== "string" || "enum" in narrowed) return narrowed;
  return { ...storedText, ...narrowed, ...fields[field] };
}
