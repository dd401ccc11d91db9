import { withTimeout } from "../../shared/with_timeout.ts";
import type { Log } from "./log.ts";

/** Tells whether new work should be sent here. Never rejects. */
export interface Readiness {
  check(): Promise<ReadinessReport>;
}

export interface ReadinessReport {
  readonly database: boolean;
  readonly broker: boolean;
  readonly isDraining: boolean;
}

export interface ReadinessOptions {
  readonly pingDatabase: () => Promise<void>;
  readonly pingBroker: () => Promise<void>;
  readonly isDraining: () => boolean;
  /** Receives one line when the database or the broker goes away, with the cause, and one when it answers again. */
  readonly log?: Pick<Log, "info" | "warn">;
  readonly timeoutMs?: number;
}

export interface WatchedReadiness extends Readiness {
  /** They ping: never a cached result. Never reject. */
  isDatabaseUp(): Promise<boolean>;
  isBrokerUp(): Promise<boolean>;
}

/** Pings the database and the broker. Concurrent calls share one ping of each. */
export function createReadiness(options: ReadinessOptions): WatchedReadiness {
  const isDatabaseUp = shareConcurrent(watch("database", options.pingDatabase, options));
  const isBrokerUp = shareConcurrent(watch("broker", options.pingBroker, options));

  return {
    async check() {
      const [database, broker] = await Promise.all([isDatabaseUp(), isBrokerUp()]);
      return { database, broker, isDraining: options.isDraining() };
    },
    isDatabaseUp,
    isBrokerUp,
  };
}

function shareConcurrent(check: () => Promise<boolean>): () => Promise<boolean> {
  let pending: Promise<boolean> | null = null;
  return () => {
    pending ??= check().finally(() => {
      pending = null;
    });
    return pending;
  };
}

function watch(
  part: string,
  ping: () => Promise<void>,
  { log, timeoutMs = 2000 }: ReadinessOptions,
): () => Promise<boolean> {
  let isUp = true;
  return async () => {
    try {
      await withTimeout(ping(), timeoutMs);
      if (!isUp) log?.info({}, `the ${part} answers again`);
      isUp = true;
    } catch (error) {
      if (isUp) log?.warn({ error }, `the ${part} is unavailable`);
      isUp = false;
    }
    return isUp;
  };
}
