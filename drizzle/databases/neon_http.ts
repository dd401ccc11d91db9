import { type CustomTypesConfig, neon } from "@neondatabase/serverless";
import {
  answerGraceMs,
  type Database,
  type DatabaseOptions,
  defaultConnectTimeoutMs,
  defaultStatementTimeoutMs,
} from "../database.ts";
import { databaseUnavailable, toDatabaseError } from "../database_error.ts";
import { decodeValue, encodeParameter } from "./parameter_values.ts";

/** Neon over HTTP: one request a statement and no connection to keep, for Workers. Connects when first used. */
export function createNeonHttpDatabase(url: string, options: DatabaseOptions = {}): Database {
  requirePostgresUrl(url);
  const statementTimeoutMs = options.statementTimeoutMs ?? defaultStatementTimeoutMs;
  const deadlineMs = (options.connectTimeoutMs ?? defaultConnectTimeoutMs) + statementTimeoutMs + answerGraceMs;
  let isClosed = false;
  const http = neon<true, true>(url, { arrayMode: true, fullResults: true });

  return {
    statementTimeoutMs,
    async transact(statements) {
      if (isClosed) throw databaseUnavailable(new Error("The database was closed"));
      const queries = statements.map(({ sql, params }) => http.query(sql, params.map(encodeParameter), { types }));
      // A batch is one transaction: https://neon.com/docs/serverless/serverless-driver
      const results = await http
        .transaction(queries, { fetchOptions: { signal: AbortSignal.timeout(deadlineMs) } })
        .catch((error: unknown) => {
          throw toDatabaseError(error);
        });
      const last = results.at(-1);
      return { columns: last?.fields.map((field) => field.name) ?? [], rows: last?.rows ?? [] };
    },
    async close() {
      isClosed = true;
    },
  };
}

const types: CustomTypesConfig = {
  getTypeParser: (typeOid: number) => (text: string) => decodeValue(typeOid, text),
};

/** Throws `TypeError` for what no driver could use, because Neon's own error quotes the whole URL with its password. */
function requirePostgresUrl(url: string): void {
  const parsed = URL.parse(url);
  if (parsed !== null && /^postgres(ql)?:$/.test(parsed.protocol) && parsed.username && parsed.hostname) return;
  throw new TypeError("Cannot use the database URL: expected postgres://user:password@host/database");
}
