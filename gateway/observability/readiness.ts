import { withTimeout } from "../../shared/with_timeout.ts";

/** Whether new work should be sent here. Never rejects. */
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
  readonly timeoutMs?: number;
}

export interface WatchedReadiness extends Readiness {
  /** They ping: never a cached result. Never reject. */
  isDatabaseUp(): Promise<boolean>;
  isBrokerUp(): Promise<boolean>;
}

/** Pings the database and the broker. Concurrent calls share one ping of each. */
export function createReadiness(options: ReadinessOptions): WatchedReadiness {
  const timeoutMs = options.timeoutMs ?? 2000;
  const isDatabaseUp = shareConcurrent(() => answersWithin(options.pingDatabase, timeoutMs));
  const isBrokerUp = shareConcurrent(() => answersWithin(options.pingBroker, timeoutMs));

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

function answersWithin(ping: () => Promise<void>, timeoutMs: number): Promise<boolean> {
  return withTimeout(ping(), timeoutMs).then(
    () => true,
    () => false,
  );
}
