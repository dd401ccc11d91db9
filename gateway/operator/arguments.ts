import * as v from "valibot";
import { AppError } from "../../shared/app_error.ts";
import { isUuid } from "../../shared/channel_name.ts";
import { instant } from "../../shared/schemas/primitives.ts";
import { defaultScopes, roleSchema, scopeSchema, type Role, type Scope } from "../../shared/schemas/team.ts";

/** The flags of the command line, still text. Their parsers throw `AppError("invalid")`, which names the flag. */
export type AdminArguments = Readonly<Record<string, unknown>>;

export function parseTenantId(args: AdminArguments): string {
  return parseUuid(args["tenant"], "--tenant");
}

export function parseUuid(value: unknown, what: string): string {
  if (isUuid(value)) return value;
  throw invalid(`${what} is not valid: expected a lower-case UUID`);
}

export function parseName(args: AdminArguments): string {
  const name = typeof args["name"] === "string" ? args["name"].trim() : "";
  if (isText(name, 200)) return name;
  throw invalid("--name is not valid: expected 1 to 200 characters");
}

export function parseSub(args: AdminArguments): string {
  const sub = args["sub"];
  if (typeof sub === "string" && isText(sub, 255)) return sub;
  throw invalid("--sub is not valid: expected 1 to 255 characters");
}

function isText(text: string, maxLength: number): boolean {
  // Control characters would also forge lines of a terminal.
  return text !== "" && text.length <= maxLength && text.isWellFormed() && !/[\u0000-\u001f\u007f]/.test(text);
}

/** Null: none is named. */
export function parseRole(args: AdminArguments): Role | null {
  const role = args["role"];
  if (role === undefined) return null;
  if (v.is(roleSchema, role)) return role;
  throw invalid(`--role is not valid: expected ${roleSchema.options.join(", ")}`);
}

export function parseScopes(args: AdminArguments): readonly Scope[] {
  const value = args["scopes"];
  if (value === undefined) return defaultScopes;
  const scopes = typeof value === "string" ? [...new Set(value.split(",").map((scope) => scope.trim()))] : [];
  if (v.is(v.pipe(v.array(scopeSchema), v.nonEmpty()), scopes)) return scopes;
  throw invalid(`--scopes is not valid: expected a comma list of ${scopeSchema.options.join(", ")}`);
}

/** Null: none is named. */
export function parseExpiresAt(args: AdminArguments, nowMs: number): Date | null {
  const value = args["expiresAt"];
  if (value === undefined) return null;
  const expected = "expected a future time such as 2027-01-31T00:00:00Z";
  if (!v.is(instant, value)) throw invalid(`--expires-at is not valid: ${expected}`);
  if (Date.parse(value) <= nowMs) throw invalid(`--expires-at is in the past: ${expected}`);
  return new Date(value);
}

const defaultTtlSeconds = 3600;
const maxTtlSeconds = 31_536_000;

export function parseTtlSeconds(args: AdminArguments): number {
  const value = args["ttl"];
  if (value === undefined) return defaultTtlSeconds;
  const seconds = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (seconds >= 1 && seconds <= maxTtlSeconds) return seconds;
  throw invalid(`--ttl is not valid: expected an integer of seconds from 1 to ${maxTtlSeconds}`);
}

const maxLimit = 10_000;

/** How many are listed. */
export function parseLimit(args: AdminArguments, defaultLimit: number): number {
  const value = args["limit"];
  if (value === undefined) return defaultLimit;
  const limit = typeof value === "string" && /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
  if (limit >= 1 && limit <= maxLimit) return limit;
  throw invalid(`--limit is not valid: expected an integer from 1 to ${maxLimit}`);
}

function invalid(message: string): AppError {
  return new AppError("invalid", message);
}
