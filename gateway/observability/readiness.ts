import { withTimeout } from "../../shared/with_timeout.ts";
import type { Log } from "./log.ts";

/** Tells whether new work should be sent here. */
export interface Readiness {
  /** Pings: never a cached result. Never rejects. */
  check(): Promise<{ readonly database: boolean; readonly broker: boolean }>;
  readonly isDraining: () => boolean;
}

export interface ReadinessOptions {
  readonly pingDatabase: () => Promise<void>;
  readonly pingBroker: () => Promise<void>;
  /** Receives one line when the database or the broker goes away, with the cause, and one when it answers again. */
  readonly log?: Pick<Log, "info" | "warn">;
}

const timeoutMs = 2000;

/** Returns what pings the database and the broker; concurrent calls share one ping of each. */
export function createReadiness({ pingDatabase, pingBroker, log }: ReadinessOptions): Readiness["check"] {
  const isDatabaseUp = watch("database", pingDatabase, log);
  const isBrokerUp = watch("broker", pingBroker, log);
  return async () => {
    const [database, broker] = await Promise.all([isDatabaseUp(), isBrokerUp()]);
    return { database, broker };
  };
}

function watch(part: string, ping: () => Promise<void>, log: ReadinessOptions["log"]): () => Promise<boolean> {
  let wasUp = true;
  let pending: Promise<boolean> | null = null;
  return () => {
    pending ??= isUp().finally(() => (pending = null));
    return pending;
  };

  async function isUp(): Promise<boolean> {
    try {
      await withTimeout(ping(), timeoutMs);
      if (!wasUp) log?.info({}, `the ${part} answers again`);
      wasUp = true;
    } catch (error) {
      if (wasUp) log?.warn({ error }, `the ${part} is unavailable`);
      wasUp = false;
    }
    return wasUp;
  }
}
