/**
 * The name of a channel at a Redis broker.
 *
 * Redis pub/sub ignores database numbers: what is published in database 5 reaches the subscribers of database 2. So the
 * number is part of the name, and two numbers really are separate (https://redis.io/docs/latest/develop/pubsub/).
 */
export function toChannelKey(database: number, channel: string): string {
  return `scanstream:${database}:${channel}`;
}

/** Throws `RangeError` for what cannot be the number of a Redis database. */
export function requireDatabase(database: number): void {
  if (Number.isSafeInteger(database) && database >= 0) return;
  throw new RangeError(
    "Cannot make a broker: the database number (EVENTSTREAM_CACHE_DB) is not valid: expected a whole number from 0",
  );
}
