/**
 * The names of channels at a Redis broker: `channelKeys(2)` makes those of database 2. Throws `RangeError` for what cannot be
 * the number of a Redis database.
 *
 * Redis pub/sub ignores database numbers: what is published in database 5 reaches the subscribers of database 2. So the
 * number is part of the name, and two numbers really are separate (https://redis.io/docs/latest/develop/pubsub/).
 */
export function channelKeys(database: number): (channel: string) => string {
  if (Number.isSafeInteger(database) && database >= 0) return (channel) => `scanstream:${database}:${channel}`;
  throw new RangeError(
    "Cannot make a broker: the database number (EVENTSTREAM_CACHE_DB) is not valid: expected a whole number from 0",
  );
}
