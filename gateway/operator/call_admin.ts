import { pause } from "../../shared/abortable.ts";
import { noDatabase, type Database } from "../../drizzle/database.ts";
import { createPgDatabase } from "../../drizzle/databases/pg.ts";
import { openPgliteDatabase } from "../../drizzle/databases/pglite.ts";
import { AppError, type ErrorCode } from "../../shared/app_error.ts";
import type { AdminArguments } from "./arguments.ts";
import { executeAdmin, isAdminOperation, type AdminContext, type AdminOperation } from "./operations.ts";
import { requestStateHolder, lockStateDirectory, type RequestHandler } from "../../command_line/state_lock.ts";
import { parseAdminConfig, parseOperatorConfig, type AdminConfig } from "../config.ts";
import type { Environment } from "../../shared/environment_reader.ts";
import { createLocalState, stateDirectory, type LocalState } from "./local_state.ts";
import { openBroker } from "../../shared/brokers/open_broker.ts";
import { askGateways } from "./operator_channel.ts";
import { requireMigrated } from "./require_migrated.ts";
import {
  describeClosed,
  describeListed,
  isStreamOperation,
  parseStreamArguments,
  type StreamOperation,
  type StreamOperator,
  type StreamReport,
} from "./stream_operations.ts";

/**
 * Runs one administrative operation on the database that the environment names, and returns its result as JSON. Embedded
 * Postgres may be open in one process only: while a gateway has it, the operation is handed to that gateway.
 *
 * Rejects with `UsageError`, or with `AppError`: `invalid`, `not_found`, `conflict`, `permission_denied`, `unavailable`.
 */
export async function runAdmin(
  environment: Environment,
  operation: AdminOperation | StreamOperation,
  args: AdminArguments,
  options: { readonly directory?: string } = {},
): Promise<unknown> {
  const config = parseAdminConfig(environment);
  const state = createLocalState(options.directory ?? stateDirectory);
  if (isStreamOperation(operation)) return operateStreams({ environment, config, state }, { operation, args });
  if (config.databaseUrl === null) return runEmbedded(config, state, { operation, args });
  const database = createPgDatabase(config.databaseUrl, { maxConnections: 1 });
  try {
    await requireMigrated(database);
    return await executeAdmin(adminContext(config, state, database), operation, args);
  } finally {
    await database.close();
  }
}

export type RunOperation = (operation: AdminOperation, args: AdminArguments) => Promise<unknown>;

/** As `runAdmin`, for several operations on a database that is opened once. */
export async function withAdmin<Result>(
  environment: Environment,
  work: (run: RunOperation) => Promise<Result>,
  options: { readonly directory?: string } = {},
): Promise<Result> {
  const config = parseAdminConfig(environment);
  const state = createLocalState(options.directory ?? stateDirectory);
  const workOn = (database: Database) => {
    const context = adminContext(config, state, database);
    return work((operation, args) => executeAdmin(context, operation, args));
  };
  if (config.databaseUrl === null) {
    await state.makeDirectory();
    const lock = await lockStateDirectory(state.directory, async () => ({ holder: "command" }));
    if (lock === null) return work((operation, args) => runEmbedded(config, state, { operation, args }));
    try {
      return await withEmbedded(state, workOn);
    } finally {
      await lock.release();
    }
  }
  const database = createPgDatabase(config.databaseUrl, { maxConnections: 1 });
  try {
    await requireMigrated(database);
    return await workOn(database);
  } finally {
    await database.close();
  }
}

/** Runs the operations that arrive on the socket while a gateway has the embedded database open. */
export function handleAdminRequests(context: Promise<AdminContext>, operator: Promise<StreamOperator>): RequestHandler {
  return async (request) => {
    if (!isRequest(request)) return { holder: "gateway" };
    try {
      if (isStreamOperation(request.operation)) {
        return { result: (await operator)(request.operation, request.args) };
      }
      return { result: await executeAdmin(await context, request.operation, request.args) };
    } catch (error) {
      if (error instanceof AppError) return { error: { code: error.code, message: error.message } };
      return { error: { code: "unavailable", message: "The gateway could not run the operation: see its log" } };
    }
  };
}

export function adminContext(
  config: Pick<AdminConfig, "hasIssuer" | "tenantClaim">,
  state: LocalState,
  database: Database,
): AdminContext {
  return {
    database,
    developmentKey: config.hasIssuer ? null : () => state.developmentKey(),
    tenantClaim: config.tenantClaim,
    nowMs: Date.now,
  };
}

interface AdminRequest<Operation = AdminOperation> {
  readonly operation: Operation;
  readonly args: AdminArguments;
}

interface StreamsPlace {
  readonly environment: Environment;
  readonly config: AdminConfig;
  readonly state: LocalState;
}

/** With an embedded database there is one gateway, at the socket; the others are reached through their broker. */
async function operateStreams(
  { environment, config, state }: StreamsPlace,
  request: AdminRequest<StreamOperation>,
): Promise<unknown> {
  parseStreamArguments(request.operation, request.args);
  const reports =
    config.databaseUrl === null
      ? [await askHolder(state.directory, request)]
      : await askThroughBroker(parseOperatorConfig(environment), request);
  if (reports.length === 0) throw new AppError("unavailable", "No gateway has answered through this broker");
  return request.operation === "streams.close" ? describeClosed(reports) : describeListed(reports, request.args);
}

async function askHolder(directory: string, request: AdminRequest<StreamOperation>): Promise<StreamReport> {
  const answer = await requestStateHolder(directory, request, timeoutMs);
  if (answer === null) {
    throw new AppError(
      "unavailable",
      `No gateway of this folder is running (${directory} is not in use), and DATABASE_URL is unset. Start a gateway, or set DATABASE_URL`,
    );
  }
  if (!isAnswer(answer))
    throw new AppError(
      "unavailable",
      "The process that has the embedded database open is not a gateway of this version",
    );
  return unwrapAnswer(answer) as StreamReport; // Trusted, as below.
}

/** Every process that is going to answer has done so by then. */
const answersMs = 2000;

async function askThroughBroker(
  { broker: config, secret }: ReturnType<typeof parseOperatorConfig>,
  request: AdminRequest<StreamOperation>,
): Promise<readonly StreamReport[]> {
  const broker = await openBroker(config);
  try {
    return await askGateways({ broker, secret, waitMs: answersMs }, request);
  } finally {
    await broker.close();
  }
}

/** Opening the embedded database for the first time takes some seconds; another command may be about to finish. */
const timeoutMs = 30_000;
const retryMs = 100;

async function runEmbedded(config: AdminConfig, state: LocalState, request: AdminRequest): Promise<unknown> {
  // Not sent to a running gateway, whose own configuration may have no issuer.
  if (config.hasIssuer && request.operation === "token.create") {
    return executeAdmin(adminContext(config, state, noDatabase), request.operation, request.args);
  }
  await state.makeDirectory();
  const deadlineMs = Date.now() + timeoutMs;
  for (;;) {
    const answer = await requestStateHolder(state.directory, request, timeoutMs);
    if (isAnswer(answer)) return unwrapAnswer(answer);
    const lock = await lockStateDirectory(state.directory, async () => ({ holder: "command" }));
    if (lock !== null) {
      try {
        return await withEmbedded(state, (database) =>
          executeAdmin(adminContext(config, state, database), request.operation, request.args),
        );
      } finally {
        await lock.release();
      }
    }
    if (Date.now() > deadlineMs)
      throw new AppError("unavailable", "The embedded database is in use by another command");
    await pause(retryMs, []);
  }
}

async function withEmbedded<Result>(state: LocalState, work: (database: Database) => Promise<Result>): Promise<Result> {
  const database = await openPgliteDatabase({ directory: state.databaseDirectory });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

type Answer = { readonly result: unknown } | { readonly error: { readonly code: ErrorCode; readonly message: string } };

function unwrapAnswer(answer: Answer): unknown {
  if ("error" in answer) throw new AppError(answer.error.code, answer.error.message);
  return answer.result;
}

/** Trusted: the socket is readable by this user only. */
function isAnswer(answer: unknown): answer is Answer {
  return typeof answer === "object" && answer !== null && ("result" in answer || "error" in answer);
}

function isRequest(request: unknown): request is AdminRequest<AdminOperation | StreamOperation> {
  if (typeof request !== "object" || request === null || !("operation" in request) || !("args" in request))
    return false;
  const isKnown = isAdminOperation(request.operation) || isStreamOperation(request.operation);
  return isKnown && typeof request.args === "object" && request.args !== null;
}
