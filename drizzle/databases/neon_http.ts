import { isJsonObject } from "../../shared/json.ts";
import {
  answerGraceMs,
  type Database,
  type DatabaseOptions,
  defaultConnectTimeoutMs,
  defaultStatementTimeoutMs,
  type Rows,
} from "../database.ts";
import { databaseUnavailable, toDatabaseError } from "../database_error.ts";
import { decodeValue, encodeParameter } from "./parameter_values.ts";

export interface NeonHttpOptions extends DatabaseOptions {
  /** Where statements are sent. Default: Neon's own, which the host of the URL names. */
  readonly endpoint?: string | undefined;
}

/**
 * Neon over HTTP: one request a transaction and no connection to keep, for Workers. Connects when first used.
 *
 * Not by Neon's driver: a third of a Worker's bundle would be its PostgreSQL client, which nothing here uses and no bundler can
 * leave out. What is sent is compared with what the driver sends (`test/drizzle/neon_http.test.ts`).
 */
export function createNeonHttpDatabase(url: string, options: NeonHttpOptions = {}): Database {
  const neonsOwn = neonEndpoint(url);
  const endpoint = options.endpoint ?? neonsOwn;
  const statementTimeoutMs = options.statementTimeoutMs ?? defaultStatementTimeoutMs;
  const deadlineMs = (options.connectTimeoutMs ?? defaultConnectTimeoutMs) + statementTimeoutMs + answerGraceMs;
  let isClosed = false;

  return {
    statementTimeoutMs,
    async transact(statements) {
      if (isClosed) throw databaseUnavailable(new Error("The database was closed"));
      const queries = statements.map(({ sql: query, params }) => ({ query, params: params.map(encodeParameter) }));
      try {
        return lastRows(await send(queries));
      } catch (error) {
        throw toDatabaseError(error);
      }
    },
    async close() {
      isClosed = true;
    },
  };

  /** A batch is one transaction: https://neon.com/docs/serverless/serverless-driver */
  async function send(queries: readonly Query[]): Promise<unknown> {
    const response = await fetch(endpoint, {
      method: "POST",
      headers: { "Neon-Connection-String": url, "Neon-Raw-Text-Output": "true", "Neon-Array-Mode": "true" },
      body: JSON.stringify({ queries }),
      // The connection string is for nobody else.
      redirect: "manual",
      signal: AbortSignal.timeout(deadlineMs),
    });
    if (response.ok) return await response.json();
    // Only this status is an answer of PostgreSQL, with the fields of its error.
    if (response.status === 400) throw toAnswer(await response.json());
    await response.body?.cancel();
    throw new Error(`Neon answered with status ${response.status}`);
  }
}

interface Query {
  readonly query: string;
  readonly params: readonly (string | null)[];
}

/** An `Error` with the members that `toDatabaseError` reads. */
function toAnswer(body: unknown): Error {
  const fields = isJsonObject(body) ? body : {};
  const { code, severity, constraint } = fields;
  return Object.assign(new Error(String(fields["message"])), { code, severity, constraint });
}

interface Result {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
  readonly rows: readonly (readonly (string | null)[])[];
}

function lastRows(body: unknown): Rows {
  const results = isJsonObject(body) ? body["results"] : null;
  if (!Array.isArray(results)) throw new TypeError("Neon's answer has no results");
  const last = results.at(-1) as Result | undefined;
  const fields = last?.fields ?? [];
  return {
    columns: fields.map(({ name }) => name),
    rows: last?.rows.map((row) => row.map((text, at) => decodeValue(fields[at]?.dataTypeID ?? 0, text))) ?? [],
  };
}

/** Throws `TypeError`, which never quotes the URL: it holds a password. */
function neonEndpoint(url: string): string {
  const parsed = URL.parse(url);
  if (parsed !== null && /^postgres(ql)?:$/.test(parsed.protocol) && parsed.username && parsed.hostname) {
    return `https://${parsed.hostname.replace(/^[^.]+\./, "api.")}/sql`;
  }
  throw new TypeError("Cannot use the database URL: expected postgres://user:password@host/database");
}
