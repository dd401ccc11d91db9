import type { TransactionSettings } from "./database.ts";

/**
 * The statements that a transaction starts with, after `begin`; none has a parameter, so that they are one simple query.
 * `set_config('role', …, true)` is SET LOCAL ROLE. The search path keeps a role's own setting from putting another table in
 * its place.
 */
export function settingStatements(
  { role, tenantId, actor = "", authority }: TransactionSettings,
  statementTimeoutMs: number,
): readonly string[] {
  const settings = {
    ...(role === null ? {} : { role }),
    "app.tenant_id": tenantId,
    "app.actor": actor,
    statement_timeout: String(statementTimeoutMs),
    // A client that vanished holds no lock for long.
    idle_in_transaction_session_timeout: String(2 * statementTimeoutMs),
    search_path: "public, pg_temp",
  };
  const calls = Object.entries(settings).map(([name, value]) => `set_config('${name}', ${literal(value)}, true)`);
  const select = `select ${calls.join(", ")}`;
  return authority === undefined ? [select] : [select, authority];
}

/** `read` is one state for all of its statements; each statement of `write` sees what others committed before it. */
export function beginStatement({ access }: Pick<TransactionSettings, "access">): string {
  return access === "read" ? "begin isolation level repeatable read read only" : "begin";
}

/** A text in SQL, also where the server reads backslashes as escapes. Throws `TypeError` for a NUL, which no text has there. */
export function literal(text: string): string {
  if (text.includes("\0")) throw new TypeError("Cannot send a text with a NUL character to the database");
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return quoted.includes("\\") ? ` E${quoted.replaceAll("\\", "\\\\")}` : quoted;
}
