import { parseChannelName } from "../../shared/channel_name.ts";
import type { LocalStreams } from "../streaming/local_streams.ts";
import type { OpenStream } from "../streaming/open_stream.ts";
import { invalid, parseLimit, parseUuid, type AdminArguments } from "./arguments.ts";

/** What an operator does with the open streams of running gateways. */
export type StreamOperation = "streams.list" | "streams.close";

/** One process's result. */
export interface StreamReport {
  /** Which process it is. */
  readonly gateway: string;
  /** Streams that match: all that were closed, or of which `streams` is the first part. */
  readonly matching: number;
  readonly streams: readonly ListedStream[];
}

export interface ListedStream {
  readonly gateway: string;
  readonly tenant_id: string;
  readonly principal_kind: string;
  readonly principal: string;
  /** The first of them. */
  readonly channel: string;
  readonly channels: number;
  readonly age_seconds: number;
  /** Waiting for a client that reads too slowly; 0 while it keeps up. */
  readonly buffered_bytes: number;
}

/** Runs one operation on the streams of this process. Throws `AppError("invalid")`. */
export type StreamOperator = (operation: StreamOperation, args: AdminArguments) => StreamReport;

export interface StreamOperatorOptions {
  readonly gateway: string;
  readonly streams: Pick<LocalStreams, "openStreams">;
  readonly nowMs: () => number;
  readonly random: () => number;
}

export function isStreamOperation(value: unknown): value is StreamOperation {
  return value === "streams.list" || value === "streams.close";
}

/** As long as a drain: clients that are closed together do not come back together. */
const closeOverMs = 3000;

export function createStreamOperator({ gateway, streams, nowMs, random }: StreamOperatorOptions): StreamOperator {
  return (operation, args) => {
    const { limit, ...filter } = parseStreamArguments(operation, args);
    const matching = [...streams.openStreams()].filter((stream) => matches(stream, filter));
    const now = nowMs();
    if (operation === "streams.close") {
      for (const stream of matching) stream.endBy(now + random() * closeOverMs, "operator");
      return { gateway, matching: matching.length, streams: [] };
    }
    const listed = matching.map((stream) => describeStream(stream, gateway, now)).toSorted(bySlownessAndAge);
    return { gateway, matching: matching.length, streams: listed.slice(0, limit) };
  };
}

/** For the operator: what was closed where. */
export function describeClosed(reports: readonly StreamReport[]): object {
  const closed = reports.reduce((sum, { matching }) => sum + matching, 0);
  return { closed, gateways: reports.map(({ gateway, matching }) => ({ gateway, closed: matching })) };
}

/** For the operator: the streams of all processes, those with the most buffered bytes and then the oldest first. */
export function describeListed(reports: readonly StreamReport[], args: AdminArguments): object {
  const streams = reports.flatMap((report) => report.streams).toSorted(bySlownessAndAge);
  const matching = reports.reduce((sum, report) => sum + report.matching, 0);
  return {
    matching,
    gateways: reports.map((report) => ({ gateway: report.gateway, matching: report.matching })),
    streams: streams.slice(0, parseLimit(args, defaultLimit)),
  };
}

function bySlownessAndAge(a: ListedStream, b: ListedStream): number {
  return b.buffered_bytes - a.buffered_bytes || b.age_seconds - a.age_seconds;
}

interface StreamFilter {
  readonly tenant: string | null;
  readonly principal: string | null;
  readonly channel: string | null;
}

const defaultLimit = 100;

/** Throws `AppError("invalid")`; what closes streams must say which. */
export function parseStreamArguments(
  operation: StreamOperation,
  args: AdminArguments,
): StreamFilter & { readonly limit: number } {
  const tenant = optionalText(args, "tenant");
  if (tenant !== null) parseUuid(tenant, "--tenant");
  const channel = optionalText(args, "channel");
  if (channel !== null && parseChannelName(channel) === null) {
    throw invalid("--channel is not valid: expected <prefix>:<tenant_id>:<resource_id>");
  }
  const principal = optionalText(args, "principal");
  if (operation === "streams.close" && tenant === null && principal === null && channel === null) {
    throw invalid("No streams are selected: expected --tenant, --principal or --channel");
  }
  return { tenant, principal, channel, limit: parseLimit(args, defaultLimit) };
}

function matches(stream: OpenStream, { tenant, principal, channel }: StreamFilter): boolean {
  if (tenant !== null && stream.principal.tenantId !== tenant) return false;
  if (principal !== null && stream.principal.id !== principal) return false;
  return channel === null || stream.channels.includes(channel);
}

function describeStream(stream: OpenStream, gateway: string, nowMs: number): ListedStream {
  const { principal, channels } = stream;
  return {
    gateway,
    tenant_id: principal.tenantId,
    principal_kind: principal.kind,
    principal: principal.id,
    channel: channels[0] ?? "",
    channels: channels.length,
    age_seconds: Math.max(0, Math.round((nowMs - stream.checkedMs) / 1000)),
    buffered_bytes: stream.bufferedBytes(),
  };
}

function optionalText(args: AdminArguments, name: string): string | null {
  const value = args[name];
  if (value === undefined || value === null) return null;
  if (typeof value === "string" && value !== "" && value.length <= 1000) return value;
  throw invalid(`--${name} is not valid: expected 1 to 1000 characters`);
}
