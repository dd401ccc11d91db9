import { and, desc, inArray, or, sql, type AnyColumn, type SQL } from "drizzle-orm";
import { currentTenantId } from "../../drizzle/policies.ts";
import { published } from "../../drizzle/schema.ts";
import type { Query, TenantDatabase } from "../../drizzle/transactions.ts";
import { AppError } from "../../shared/app_error.ts";
import { parseChannelName, type ChannelName } from "../../shared/channel_name.ts";
import { encodeChannelEvent, toMessage, type CheckedEvent, type Message } from "../../shared/event.ts";
import { mapResult } from "./event_stream_definition.ts";

/** The producer of what the gateway publishes itself. */
export const gatewayProducer = "gateway";

/**
 * Stores events of one channel, in their order: called once for each batch that a producer publishes (at most 500 events), in
 * the tenant's transaction and before any stream gets them. Each event is handed over once, also when its producer sends it
 * again. It refuses the whole batch by throwing `NotFound`, `AppError("conflict", …)` or `AppError("invalid", …)`. The events that it returns
 * are published after those of the batch, on other channels of the same tenant.
 */
export type OnPublish = (
  tx: TenantDatabase,
  events: readonly PublishedEvent[],
  channel: ChannelName,
) => Promise<readonly ChannelEvent[]>;

/** An event of a batch. */
export interface PublishedEvent extends CheckedEvent {
  /** Place of its data in the request's body, for what a refusal says: `/events/3/data`. */
  readonly pointer: string;
}

/** An event and the channel that it is published on. */
export interface ChannelEvent extends CheckedEvent {
  readonly channel: string;
}

/** Events that one producer publishes on one channel at once. */
export interface Batch {
  readonly channel: string;
  readonly name: ChannelName;
  readonly producer: string;
  /** The number of the first event. */
  readonly first: number;
  readonly events: readonly PublishedEvent[];
}

/**
 * Stores the events that were not stored before, and returns what their feature publishes in addition. Rejects with
 * `AppError("conflict")` where events before these are missing, and as the feature refuses.
 */
export async function storeBatch(
  tx: TenantDatabase,
  onPublish: OnPublish,
  { channel, name, producer, first, events }: Batch,
): Promise<{ readonly stored: number; readonly more: readonly Message[] }> {
  const next = await takeNumbers(tx, channel, producer, 0);
  if (first > next) {
    throw new AppError(
      "conflict",
      `Events before ${producer}.${first} are missing: expected ${producer}.${next} as the first delivery_id`,
    );
  }
  const fresh = events.slice(next - first);
  if (fresh.length === 0) return { stored: 0, more: [] };
  const returned = await onPublish(tx, fresh, name);
  const of = `onPublish of the feature "${name.prefix}"`;
  const more = mapResult(of, "a list of events of the tenant, or []", returned, (event) => {
    const named = parseChannelName(event.channel);
    if (named?.tenantId !== name.tenantId) throw new TypeError(`${event.channel} is not a channel of the tenant`);
    return { channel: event.channel, event: encodeChannelEvent(named, event.type, event.payload) };
  });
  await takeNumbers(tx, channel, producer, fresh.length);
  const messages: Message[] = [];
  // The channels are locked in the order of their names, so that no two batches wait for each other.
  const byChannel = [...Map.groupBy(more, (event) => event.channel)].sort(([one], [other]) => (one < other ? -1 : 1));
  for (const [other, own] of byChannel) {
    const firstN = await takeNumbers(tx, other, gatewayProducer, own.length);
    for (const [index, { event }] of own.entries()) {
      const deliveryId = `${gatewayProducer}.${firstN + index}`;
      messages.push({ channel: other, message: toMessage({ ...event, deliveryId }) });
    }
  }
  return { stored: fresh.length, more: messages };
}

/**
 * Takes as many of a producer's numbers on a channel as events are stored, maybe none yet, and returns the first. Until this transaction
 * ends no other one takes any.
 */
async function takeNumbers(db: TenantDatabase, channel: string, producer: string, count: number): Promise<number> {
  const lastN = sql`${published.lastN} + ${count}`;
  const [row] = await db
    .insert(published)
    .values({ tenantId: currentTenantId, channel, producer, lastN: count })
    .onConflictDoUpdate({
      target: [published.tenantId, published.channel, published.producer],
      set: { lastN, ...(count > 0 && { publishedAt: sql`now()` }) },
    })
    .returning({ lastN: published.lastN });
  return (row?.lastN ?? count) - count + 1;
}

/** The last stored event of a producer on a channel. The ages are its own, and that of the last one that was not sent. */
export interface StoredNumber {
  readonly channel: string;
  readonly producer: string;
  readonly lastN: number;
  readonly ageMs: number;
  /** Null: the broker took all of them. */
  readonly lostAgeMs: number | null;
}

/** Most channels have one producer, or a few; one with thousands is not read whole. */
const maxNumbers = 2000;

/** The numbers of events that were stored within so many minutes, or at any time, the last first: a query that was not executed yet. */
export function selectStoredNumbers(
  db: TenantDatabase,
  channels: readonly string[],
  withinMinutes: number | null,
): Query<readonly StoredNumber[]> {
  const isRecent = (column: AnyColumn) => sql`${column} > now() - ${withinMinutes} * interval '1 minute'`;
  const ageOf = (column: AnyColumn) => sql`extract(epoch from now() - ${column}) * 1000`.mapWith(Number);
  const { channel, producer, lastN, publishedAt, lostAt } = published;
  const lostAgeMs = ageOf(lostAt) as SQL<number | null>;
  return db
    .select({ channel, producer, lastN, ageMs: ageOf(publishedAt), lostAgeMs })
    .from(published)
    .where(
      and(
        sql`${channel} = any (${sql.param(channels)}::text[])`,
        withinMinutes === null ? undefined : or(isRecent(publishedAt), isRecent(lostAt)),
      ),
    )
    .orderBy(desc(publishedAt))
    .limit(maxNumbers);
}

/** The broker did not take what was just stored: the recheck closes the streams of these channels. */
export async function markLost(db: TenantDatabase, channels: readonly string[]): Promise<void> {
  await db
    .update(published)
    .set({ lostAt: sql`now()` })
    .where(inArray(published.channel, [...channels]));
}

/** The numbers of a channel whose resource is deleted. */
export async function deleteNumbering(db: TenantDatabase, channels: readonly string[]): Promise<void> {
  await db.delete(published).where(inArray(published.channel, [...channels]));
}
