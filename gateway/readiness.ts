import type { Readiness, ReadinessReport } from "./dependencies.ts";

export interface ReadinessOptions {
  readonly pingDatabase: () => Promise<void>;
  readonly pingBroker: () => Promise<void>;
  readonly isDraining: () => boolean;
  readonly timeoutMs?: number;
}

export interface WatchedReadiness extends Readiness {
  /** What the last check found; null before the first. */
  isBrokerUp(): boolean | null;
}

/** Asks the database and the broker. However many ask at a time, one question is under way. */
export function createReadiness(options: ReadinessOptions): WatchedReadiness {
  const timeoutMs = options.timeoutMs ?? 2000;
  let pending: Promise<Omit<ReadinessReport, "isDraining">> | null = null;
  let isBrokerUp: boolean | null = null;

  return {
    async check() {
      pending ??= ask().finally(() => {
        pending = null;
      });
      return { ...(await pending), isDraining: options.isDraining() };
    },
    isBrokerUp: () => isBrokerUp,
  };

  async function ask(): Promise<Omit<ReadinessReport, "isDraining">> {
    const [database, broker] = await Promise.all([
      answersWithin(options.pingDatabase, timeoutMs),
      answersWithin(options.pingBroker, timeoutMs),
    ]);
    isBrokerUp = broker;
    return { database, broker };
  }
}

async function answersWithin(ping: () => Promise<void>, timeoutMs: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  const answer = ping().then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
