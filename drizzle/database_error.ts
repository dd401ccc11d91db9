import { AppError } from "../shared/app_error.ts";
import { errorCode } from "../shared/error_code.ts";

type ConstraintKind = "unique" | "foreign_key" | "check" | "not_null";

export interface ConstraintViolation {
  readonly kind: ConstraintKind;
  /** The constraint's name in the schema; null for a NOT NULL column. */
  readonly constraint: string | null;
}

/** The database understood a statement and refused it. The message holds no value of a row. */
export class DatabaseError extends Error {
  /** Five characters, https://www.postgresql.org/docs/current/errcodes-appendix.html */
  readonly sqlState: string;
  readonly violation: ConstraintViolation | null;

  constructor(message: string, sqlState: string, violation: ConstraintViolation | null) {
    super(message);
    this.name = "DatabaseError";
    this.sqlState = sqlState;
    this.violation = violation;
  }
}

/** The constraint that an error reports as violated, also when Drizzle wrapped the error; null for any other error. */
export function constraintViolation(error: unknown): ConstraintViolation | null {
  const known = unwrapDatabaseError(error);
  return known instanceof DatabaseError ? known.violation : null;
}

/**
 * The `AppError` or `DatabaseError` inside the error of a failed query; the error itself otherwise. Drizzle
 * wraps every failure in an error whose message holds all parameters, which must reach no log.
 */
export function unwrapDatabaseError(error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof DatabaseError || cause instanceof AppError) return cause;
  }
  return error;
}

/** Converts a driver's failure: a refused statement becomes a `DatabaseError`, anything else means "unavailable". */
export function toDatabaseError(error: unknown): DatabaseError | AppError {
  if (error instanceof DatabaseError || error instanceof AppError) return error;
  const answer = parseAnswer(error);
  if (answer === null || isUnavailable(answer.sqlState)) return databaseUnavailable(error);
  const { sqlState } = answer;
  // Messages of class 22 (a value that does not fit its type) quote the value.
  const text = sqlState.startsWith("22") ? "a value does not fit its type" : answer.message;
  return new DatabaseError(`Cannot run a statement: ${text} (SQLSTATE ${sqlState})`, sqlState, toViolation(answer));
}

/** The one refusal for a database that is unreachable, slow or full. */
export function databaseUnavailable(cause: unknown): AppError {
  return new AppError("unavailable", "The database cannot be reached, or is too slow to answer", {
    cause,
    retryAfterSeconds: 2,
  });
}

interface Answer {
  readonly sqlState: string;
  readonly message: string;
  readonly constraint: string | null;
}

/** Drivers put the SQLSTATE into an error's `code`, where Node puts ECONNREFUSED: only the format distinguishes them. */
function parseAnswer(error: unknown): Answer | null {
  const sqlState = errorCode(error);
  if (sqlState === null || !/^[0-9A-Z]{5}$/.test(sqlState)) return null;
  if (!(error instanceof Error) || !("severity" in error)) return null;
  const constraint = "constraint" in error && typeof error.constraint === "string" ? error.constraint : null;
  return { sqlState, message: error.message, constraint };
}

/**
 * The server answered, but not about the statement: connection lost (08), role or database unknown (28,
 * 3D), deadlock or snapshot conflict (40), no connections, memory or disk left (53), shut down, starting or cancelled for
 * time (57), files unreadable (58), a lock not had in time (55P03), a standby that only reads (25006).
 */
function isUnavailable(sqlState: string): boolean {
  return /^(08|28|3D|40|53|57|58)/.test(sqlState) || sqlState === "55P03" || sqlState === "25006";
}

const kinds: Readonly<Record<string, ConstraintKind>> = {
  "23502": "not_null",
  "23503": "foreign_key",
  "23505": "unique",
  "23514": "check",
};

function toViolation(answer: Answer): ConstraintViolation | null {
  const kind = kinds[answer.sqlState];
  return kind === undefined ? null : { kind, constraint: answer.constraint };
}
