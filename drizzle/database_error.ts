import { DrizzleQueryError } from "drizzle-orm";
import { AppError } from "../shared/app_error.ts";
import { errorCode } from "../shared/error_code.ts";
import type { TransactionSettings } from "./database.ts";

/** The database understood a statement and refused it. The message holds no value of a row. */
export class DatabaseError extends Error {
  /** Five characters, https://www.postgresql.org/docs/current/errcodes-appendix.html */
  readonly sqlState: string;
  /** The message of the server. */
  readonly reason: string;

  constructor(message: string, sqlState: string, reason = "") {
    super(message);
    this.name = "DatabaseError";
    this.sqlState = sqlState;
    this.reason = reason;
  }
}

/**
 * The `AppError`, the `DatabaseError` or the driver's error inside the error of a failed query; the error itself otherwise.
 * Drizzle wraps every failure in an error whose message holds all parameters, which must reach no log.
 */
export function unwrapDatabaseError(error: unknown): unknown {
  if (error instanceof DrizzleQueryError) return error.cause;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof DatabaseError || cause instanceof AppError) return cause;
  }
  return error;
}

/** Converts a driver's failure: a refused statement becomes a `DatabaseError`, anything else means "unavailable". */
export function toDatabaseError(
  error: unknown,
  access: TransactionSettings["access"] = "write",
): DatabaseError | AppError {
  if (error instanceof DatabaseError || error instanceof AppError) return error;
  // Drivers put it into an error's `code`, where Node puts ECONNREFUSED: only the format and the severity tell them apart.
  const sqlState = errorCode(error);
  const isAnswer = error instanceof Error && "severity" in error && sqlState !== null && /^[0-9A-Z]{5}$/.test(sqlState);
  // A transaction that only reads refuses to write on every server.
  const isOwnRefusal = access === "read" && sqlState === "25006";
  if (!isAnswer || (unavailableStates.test(sqlState) && !isOwnRefusal)) return databaseUnavailable(error);
  // Its credential was checked a moment before.
  if (/_tenant_id_tenants_id_fk"/.test(error.message))
    return new AppError("not_authenticated", "The tenant was deleted");
  // Messages of class 22 (a value that does not fit its type) quote the value.
  const text = sqlState.startsWith("22") ? "a value does not fit its type" : error.message;
  return new DatabaseError(`Cannot run a statement: ${text} (SQLSTATE ${sqlState})`, sqlState, text);
}

/** The one refusal for a database that is unreachable, slow or full. */
export function databaseUnavailable(cause: unknown): AppError {
  return new AppError("unavailable", "The database cannot be reached, or is too slow to answer", {
    cause,
    retryAfterSeconds: 2,
  });
}

/**
 * The server answered, but not about the statement: connection lost (08), role or database unknown (28,
 * 3D), deadlock or snapshot conflict (40), no connections, memory or disk left (53), shut down, starting or cancelled for
 * time (57), files unreadable (58), a lock not had in time (55P03), a standby that only reads (25006).
 */
const unavailableStates = /^(?:08|28|3D|40|53|57|58|55P03|25006)/;
