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
  /** Whether the broker answers now, asked anew: never what an earlier question found. Never rejects. */
  isBrokerUp(): Promise<boolean>;
}

/** Asks the database and the broker. However many ask at a time, one question to each is under way. */
export function createReadiness(options: ReadinessOptions): WatchedReadiness {
  const timeoutMs = options.timeoutMs ?? 2000;
  const isDatabaseUp = shared(() => answersWithin(options.pingDatabase, timeoutMs));
  const isBrokerUp = shared(() => answersWithin(options.pingBroker, timeoutMs));

  return {
    async check() {
      const [database, broker] = await Promise.all([isDatabaseUp(), isBrokerUp()]);
      return { database, broker, isDraining: options.isDraining() };
    },
    isBrokerUp,
  };
}

function shared(ask: () => Promise<boolean>): () => Promise<boolean> {
  let pending: Promise<boolean> | null = null;
  return () => {
    pending ??= ask().finally(() => {
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
