import type * as v from "valibot";
import { sessionSchema } from "../../shared/schemas/session.ts";
import { parse } from "./scan_wire.ts";

/** A tenant, and what the caller is in it: `viewer`, `operator` or `admin`; null for an API key. */
export type CallerTenant = v.InferOutput<typeof sessionSchema>["tenants"][number];

export interface Caller {
  readonly kind: "user" | "api_key";
  readonly id: string;
  readonly name: string | null;
  /** For an API key; null: of a user. */
  readonly scopes: readonly string[] | null;
  readonly tenant: CallerTenant | null;
  readonly tenants: readonly CallerTenant[];
}

/** Throws `TypeError` for an answer that is not the gateway's. */
export function parseCaller(value: unknown): Caller {
  return parse(sessionSchema, value, "a session");
}
