export type ConstraintKind = "unique" | "foreign_key" | "check" | "not_null";

export interface ConstraintViolation {
  readonly kind: ConstraintKind;
  /** The constraint's name in the schema; null for a NOT NULL column. */
  readonly constraint: string | null;
}

/** What the database answered to a statement that it understood and refused. Never holds a value of a row. */
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
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof DatabaseError) return cause.violation;
  }
  return null;
}
