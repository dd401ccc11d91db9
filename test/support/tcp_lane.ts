import type { Socket } from "node:net";

/** Of all connections of one proxy. */
export interface Network {
  /** Each chunk is held for so long, in each direction: half of the round trip. */
  delayMs: number;
  /** An answer: the first bytes that come back after some went out. */
  answersToLose: number;
}

export type Flow = "open" | "stalled" | { readonly bytesPerSecond: number };

const slowTickMs = 20;

export interface Lane {
  setFlow(flow: Flow): void;
  truncate(bytes: number): void;
  drop(): void;
}

interface LaneOptions {
  readonly flow: Flow;
  readonly network: Network;
  /** True: the connection breaks in the place of the chunk that arrives. */
  readonly isLost: () => boolean;
  readonly breakConnection: () => void;
}

/** One direction: what it holds goes out in order, each chunk when its delay is over, the end of the stream last. */
export function createLane(
  from: Socket,
  to: Socket,
  { flow: initialFlow, network, isLost, breakConnection }: LaneOptions,
): Lane {
  let held: { bytes: Buffer; readonly dueMs: number; readonly isLast: boolean }[] = [];
  let flow = initialFlow;
  let hasEnded = false;
  let bytesLeft = Infinity;
  let lastDueMs = 0;
  let timer: NodeJS.Timeout | null = null;

  from.on("data", (chunk: Buffer) => {
    const isLast = isLost();
    held.push({ bytes: isLast ? Buffer.alloc(0) : chunk, dueMs: dueMs(), isLast });
    pass();
  });
  from.once("end", () => {
    hasEnded = true;
    held.push({ bytes: Buffer.alloc(0), dueMs: dueMs(), isLast: false });
    pass();
  });
  to.on("drain", () => from.resume());
  from.resume();

  return {
    setFlow(next) {
      flow = next;
      pass();
    },
    truncate(bytes) {
      bytesLeft = bytes;
      pass();
    },
    drop() {
      held = [];
      if (timer !== null) clearTimeout(timer);
    },
  };

  function dueMs(): number {
    if (network.delayMs === 0) return 0;
    lastDueMs = Math.max(lastDueMs, performance.now() + network.delayMs);
    return lastDueMs;
  }

  function pass(): void {
    if (timer !== null || flow === "stalled" || to.destroyed) return;
    let allowance = flow === "open" ? Infinity : Math.max(1, Math.floor((flow.bytesPerSecond * slowTickMs) / 1000));
    const nowMs = performance.now();
    for (let chunk = held[0]; chunk !== undefined && chunk.dueMs <= nowMs; chunk = held[0]) {
      const size = Math.min(chunk.bytes.byteLength, allowance, bytesLeft);
      if (size > 0 && !to.write(chunk.bytes.subarray(0, size))) from.pause();
      allowance -= size;
      bytesLeft -= size;
      if (bytesLeft <= 0) {
        to.end();
        from.destroy();
        return;
      }
      chunk.bytes = chunk.bytes.subarray(size);
      if (chunk.bytes.byteLength > 0) break;
      held.shift();
      if (chunk.isLast) {
        // In the next turn: a reset would take with it what was written just now.
        setImmediate(breakConnection);
        return;
      }
      if (allowance <= 0) break;
    }
    const [next] = held;
    if (next !== undefined) {
      timer = setTimeout(
        () => {
          timer = null;
          pass();
        },
        Math.max(flow === "open" ? 0 : slowTickMs, next.dueMs - nowMs),
      );
    } else if (hasEnded) {
      to.end();
    }
  }
}
