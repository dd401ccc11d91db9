/** Closes what was opened, in the opposite order of opening. */
export interface Cleanup {
  defer(close: () => Promise<void> | void): void;
  /** Closes everything, also when one of them fails; rejects with the first failure. A second call waits for the first. */
  run(): Promise<void>;
}

export function createCleanup(): Cleanup {
  const deferred: (() => Promise<void> | void)[] = [];
  let running: Promise<void> | null = null;

  async function runAll(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of deferred.toReversed()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  return {
    defer: (close) => void deferred.push(close),
    run() {
      running ??= runAll();
      return running;
    },
  };
}
