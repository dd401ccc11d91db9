import * as v from "valibot";
import { afterAll } from "vitest";
import type { Database } from "../../drizzle/database.ts";
import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import { parseConfig } from "../../gateway/config.ts";
import { call, type CallOptions } from "../../gateway/library/contract_client.ts";
import { problemSchema, type Problem } from "../../gateway/http/problem.ts";
import { createLog } from "../../gateway/observability/log.ts";
import { nodeHttp } from "../../gateway/runtime/node_http.ts";
import { startGateway, type StartOptions } from "../../gateway/runtime/start_gateway.ts";
import type { Environment } from "../../shared/environment_reader.ts";
import { openOnPostgres } from "../drizzle/open_databases.ts";
import { createIssuerKey, createOperator, issuerEnvironment, type IssuerKey } from "./operator.ts";
import { openTestPglite } from "./pglite.ts";
import { patient } from "./postgres.ts";
import { temporaryFolder } from "./temporary_folder.ts";
import { runSql, watchedQueries } from "./watched_database.ts";

export { createScan } from "../contract/harness.ts";

export type TestGateway = Awaited<ReturnType<typeof startTestGateway>>;

/** PostgreSQL in this process for a fast test and for a program; the run's server, which costs less CPU time, for other tests. */
export async function openTestDatabase(): Promise<Database> {
  if (process.env["TEST_SPEED"] === "fast" || process.env["VITEST"] === undefined) return openTestPglite();
  const { database, close } = await openOnPostgres((url) =>
    createPgDatabase(url, { ...patient, logger: watchedQueries }),
  );
  return { ...database, close };
}

/** One database for several gateways, one after another: a gateway that stops leaves it open. */
export async function openSharedDatabase() {
  const database = await openTestDatabase();
  return { database: { ...database, close: async () => {} }, close: () => database.close() };
}

export interface TestGatewayOptions extends Partial<Omit<StartOptions, "config" | "http">> {
  /** Default: a new one. */
  readonly issuerKey?: IssuerKey;
}

/** Starts a gateway for all tests of a file. */
export async function openTestGateway(...options: Parameters<typeof startTestGateway>): Promise<TestGateway> {
  const gateway = await startTestGateway(...options);
  afterAll(() => gateway.stop());
  return gateway;
}

/** Starts a gateway on a free port, with two tenants. */
export async function startTestGateway(
  environment: Environment = {},
  { issuerKey: givenKey, ...options }: TestGatewayOptions = {},
) {
  const folder = await temporaryFolder();
  const issuerKey = givenKey ?? (await createIssuerKey());
  /** Everything that was logged, every level. */
  const log: string[] = [];
  const config = parseConfig({ PORT: "0", ...issuerEnvironment(issuerKey), ...environment });
  const database: Database = options.database ?? (await openTestDatabase());
  const gateway = await startGateway({
    http: nodeHttp,
    config,
    directory: folder.path,
    log: createLog({ level: "debug", write: (line) => log.push(line) }),
    ...options,
    database,
  });
  const { url } = gateway;
  const operator = createOperator((operation, args) => gateway.admin(operation, args), issuerKey);
  const acme = await operator.createTenant("Acme");
  /** Sends a request of `/api/v1` with Acme's key, or with another credential. */
  const send = (method: string, path: string, json?: unknown, as = `Api-Key ${acme.apiKey}`) =>
    call(gateway, `/api/v1${path}`, { method, as, json });
  return {
    ...operator,
    gateway,
    url,
    /** The variables with which a command reaches it as Acme. */
    env: { SCANSTREAM_URL: url, SCANSTREAM_API_KEY: acme.apiKey },
    acme,
    globex: await operator.createTenant("Globex"),
    database,
    /** The rows of a statement about every tenant. */
    owner: (sql: string, ...params: readonly unknown[]) =>
      runSql(database, "set local role scanstream_admin", { sql, params }),
    log: log as readonly string[],
    request: (path: string, callOptions?: CallOptions) => call(gateway, path, callOptions),
    send,
    /** Reads a resource of `/api/v1` with Acme's key, which has to be answered. */
    async read<Answer>(path: string) {
      const response = await send("GET", path);
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as Answer;
    },
    async stop() {
      await gateway.stop({ drainMs: 0 });
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** The problem document of a refusal; throws for a malformed one. */
export async function problemOf(response: Response): Promise<Problem> {
  const contentType = response.headers.get("content-type");
  if (contentType !== "application/problem+json") throw new Error(`Not a problem document but ${contentType}`);
  const problem = v.parse(problemSchema, await response.json());
  if (problem.status !== response.status || problem.detail === "") throw new Error(JSON.stringify(problem));
  return problem;
}

/** Reads a stream until the text received contains `until`, or to its end. */
export async function readStream(response: Response, until: string | RegExp): Promise<string> {
  if (response.body === null) throw new Error("The stream has no body");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += value;
    if (typeof until === "string" ? text.includes(until) : until.test(text)) {
      await reader.cancel();
      return text;
    }
  }
}
