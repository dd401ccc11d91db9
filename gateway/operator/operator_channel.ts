import { abortable, pause } from "../../shared/abortable.ts";
import type { Broker } from "../../shared/broker.ts";
import { isUuid } from "../../shared/channel_name.ts";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import type { Log } from "../observability/log.ts";
import type { AdminArguments } from "./arguments.ts";
import { openSealed, sealMessage } from "./sealed_message.ts";
import {
  isStreamOperation,
  type ListedStream,
  type StreamOperation,
  type StreamOperator,
  type StreamReport,
} from "./stream_operations.ts";

/**
 * How an operator's request reaches every process of every machine: each subscribes to one channel of the broker, and answers
 * on a channel that the request names. The name is not one of a tenant's, so that no key can publish on it over HTTP and no
 * stream can follow it; what comes from a producer with the broker's password has no seal.
 */
const requestChannel = "operator";

const minRetryMs = 1000;
const maxRetryMs = 30_000;
/** Well below the longest message of a broker. */
const streamsPerMessage = 500;

interface AnswerOptions {
  readonly broker: Broker;
  readonly operate: StreamOperator;
  /** Seals requests and answers. */
  readonly secret: string;
  readonly log: Log;
  readonly nowMs: () => number;
}

/** A request that is older, or comes again, is not the operator's. */
const maxRequestAgeMs = 30_000;
const maxRememberedRequests = 1000;

/** Answers until the returned function is called; a subscription that is lost is taken up again. */
export function answerOperators({ broker, operate, secret, log, nowMs }: AnswerOptions): () => void {
  const stop = new AbortController();
  const answered = new Set<string>();
  void keepSubscribed();
  return () => stop.abort();

  async function keepSubscribed(): Promise<void> {
    let retryMs = minRetryMs;
    while (!stop.signal.aborted) {
      const lost = Promise.withResolvers<void>();
      const onMessage = (_channel: string, message: string) => receive(message);
      try {
        await broker.subscribe([requestChannel], { onMessage, onLost: () => lost.resolve() }, stop.signal);
        retryMs = minRetryMs;
        await abortable(lost.promise, stop.signal);
      } catch (error) {
        if (stop.signal.aborted) return;
        log.debug({ error }, "requests of operators cannot be received now");
        retryMs = Math.min(retryMs * 2, maxRetryMs);
      }
      await pause(retryMs, [stop.signal]);
    }
  }

  function receive(message: string): void {
    const request = parseRequest(openSealed(secret, message));
    if (request === null || answered.has(request.id)) return;
    if (Math.abs(nowMs() - request.at_ms) > maxRequestAgeMs) return;
    answered.add(request.id);
    const [oldest] = answered.size > maxRememberedRequests ? answered : [];
    if (oldest !== undefined) answered.delete(oldest);
    void reply(request).catch((error: unknown) => log.warn({ error }, "an operator's request was not answered"));
  }

  async function reply({ id, operation, args }: OperatorRequest): Promise<void> {
    const report = operate(operation, args);
    if (operation === "streams.close") log.info({ closed: report.matching }, "streams are closed by the operator");
    for (let from = 0; from === 0 || from < report.streams.length; from += streamsPerMessage) {
      const part = { ...report, streams: report.streams.slice(from, from + streamsPerMessage) };
      await broker.publish(replyChannel(id), sealMessage(secret, part));
    }
  }
}

/** The answers of all processes that arrive in time. Rejects with `AppError("unavailable")`. */
export async function askGateways(
  { broker, secret, waitMs }: { readonly broker: Broker; readonly secret: string; readonly waitMs: number },
  { operation, args }: Pick<OperatorRequest, "operation" | "args">,
): Promise<readonly StreamReport[]> {
  const id = crypto.randomUUID();
  const stop = new AbortController();
  const lost = new AbortController();
  const reports: StreamReport[] = [];
  const onMessage = (_channel: string, message: string) => {
    const report = openSealed(secret, message);
    if (report !== null && Array.isArray(report["streams"])) reports.push(toReport(report, report["streams"]));
  };
  await broker.subscribe([replyChannel(id)], { onMessage, onLost: () => lost.abort() }, stop.signal);
  try {
    await broker.publish(requestChannel, sealMessage(secret, { id, operation, args, at_ms: Date.now() }));
    await pause(waitMs, [lost.signal]);
  } finally {
    stop.abort();
  }
  return joinParts(reports);
}

interface OperatorRequest {
  /** For the answer's channel. */
  readonly id: string;
  readonly operation: StreamOperation;
  readonly args: AdminArguments;
  readonly at_ms: number;
}

function parseRequest(request: JsonObject | null): OperatorRequest | null {
  const { id, operation, args, at_ms: atMs } = request ?? {};
  if (!isUuid(id) || !isStreamOperation(operation) || !isJsonObject(args) || typeof atMs !== "number") return null;
  return { id, operation, args, at_ms: atMs };
}

function replyChannel(id: string): string {
  return `${requestChannel}:${id}`;
}

function toReport(report: Readonly<Record<string, unknown>>, streams: readonly unknown[]): StreamReport {
  return {
    gateway: String(report["gateway"]),
    matching: Number(report["matching"]),
    streams: streams.filter(isJsonObject) as unknown as readonly ListedStream[], // Written by `reply` above.
  };
}

function joinParts(parts: readonly StreamReport[]): readonly StreamReport[] {
  const joined = new Map<string, StreamReport>();
  for (const part of parts) {
    const before = joined.get(part.gateway)?.streams ?? [];
    joined.set(part.gateway, { ...part, streams: [...before, ...part.streams] });
  }
  return [...joined.values()];
}
