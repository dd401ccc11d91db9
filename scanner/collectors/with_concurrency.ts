import type { IdpClient } from "../idp/idp_client.ts";

/** The same client with at most `maxConcurrent` reads under way; the others wait in the order in which they came. */
export function withConcurrency(client: IdpClient, maxConcurrent: number): IdpClient {
  if (!Number.isInteger(maxConcurrent) || maxConcurrent < 1) {
    throw new RangeError(`Cannot read with concurrency "${maxConcurrent}": it should be a whole number of at least 1`);
  }
  const waiting: (() => void)[] = [];
  let running = 0;

  return {
    getObject: (request) => inTurn(() => client.getObject(request)),
    getList: (request) => inTurn(() => client.getList(request)),
  };

  async function inTurn<Value>(read: () => Promise<Value>): Promise<Value> {
    // The slot of a read that ends is handed on, so a newcomer never passes those who wait.
    if (running < maxConcurrent) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await read();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  }
}
