import type { Rows, Statement } from "../database.ts";
import type { PreparedStatements } from "./prepared_statements.ts";
import { decodeValue, encodeParameter } from "./parameter_values.ts";

/**
 * The part of a node-postgres connection that writes the extended query protocol. It is not documented API: checked
 * against pg 8.23.1, the version that package.json pins exactly.
 */
interface ProtocolConnection {
  readonly stream: { cork?: () => void; uncork?: () => void };
  parse(statement: { readonly name: string; readonly text: string; readonly types: readonly number[] }): void;
  bind(portal: { readonly statement: string; readonly values: readonly (string | null)[] }): void;
  describe(what: { readonly type: "P"; readonly name: string }): void;
  close(what: { readonly type: "S"; readonly name: string }): void;
  execute(portal: { readonly portal: string; readonly rows: number }): void;
  sync(): void;
  sendCopyFail(reason: string): void;
}

interface RowDescription {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
}

/**
 * Several statements as one query of a node-postgres client: all are written at once and end with a single Sync. What
 * stands before a Sync is one transaction to Postgres (it commits there, or at the first error skips to it and undoes
 * everything), so a tenant's statement costs one round trip and needs no BEGIN and COMMIT.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
export class BatchQuery {
  /** The rows of the last statement; rejects with the error of the client. */
  readonly result: Promise<Rows>;
  readonly #statements: readonly { readonly text: string; readonly values: readonly (string | null)[] }[];
  readonly #prepared: PreparedStatements | null;
  /** What this batch has parsed under a name. */
  readonly #parsed: string[] = [];
  #kept: Set<string> | null = null;
  readonly #resolve: (rows: Rows) => void;
  readonly #reject: (error: unknown) => void;
  readonly #rows: (readonly unknown[])[] = [];
  #fields: RowDescription["fields"] = [];
  #completed = 0;

  /** With `prepared` statements are parsed once a connection. Throws `TypeError` for a parameter that cannot be sent. */
  constructor(statements: readonly Statement[], prepared: PreparedStatements | null = null) {
    this.#prepared = prepared;
    this.#statements = statements.map(({ sql, params }) => ({ text: sql, values: params.map(encodeParameter) }));
    const { promise, resolve, reject } = Promise.withResolvers<Rows>();
    this.result = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  submit(connection: ProtocolConnection): void {
    // One TCP segment where the stream can; PGlite's stand-in has no cork.
    connection.stream.cork?.();
    try {
      for (const [index, { text, values }] of this.#statements.entries()) {
        const name = this.#prepared?.nameOf(text) ?? "";
        if (!this.#isKept(connection, name)) connection.parse({ name, text, types: [] });
        connection.bind({ statement: name, values });
        if (index === this.#statements.length - 1) connection.describe({ type: "P", name: "" });
        connection.execute({ portal: "", rows: 0 });
      }
      connection.sync();
    } finally {
      connection.stream.uncork?.();
    }
  }

  handleRowDescription(message: RowDescription): void {
    this.#fields = message.fields;
  }

  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void {
    if (this.#completed < this.#statements.length - 1) return;
    this.#rows.push(message.fields.map((text, column) => decodeValue(this.#fields[column]?.dataTypeID ?? 0, text)));
  }

  handleCommandComplete(): void {
    this.#completed++;
  }

  handleEmptyQuery(): void {
    this.#completed++;
  }

  handleReadyForQuery(): void {
    for (const name of this.#parsed) this.#kept?.add(name);
    this.#resolve({ columns: this.#fields.map((field) => field.name), rows: this.#rows });
  }

  handleError(error: unknown): void {
    // Which of them was parsed before the error is not known: the next batch closes and parses them again.
    this.#parsed.length = 0;
    this.#reject(error);
  }

  /** Never with `rows: 0`; the client insists on the method. */
  handlePortalSuspended(): void {}

  handleCopyInResponse(connection: ProtocolConnection): void {
    connection.sendCopyFail("COPY is not supported");
  }

  handleCopyData(): void {}

  #isKept(connection: ProtocolConnection, name: string): boolean {
    if (name === "" || this.#prepared === null) return false;
    this.#kept ??= this.#prepared.keptBy(connection);
    if (this.#kept.has(name)) return true;
    // A batch that failed may have left it there. To close what is not there is no error.
    connection.close({ type: "S", name });
    this.#parsed.push(name);
    return false;
  }
}
