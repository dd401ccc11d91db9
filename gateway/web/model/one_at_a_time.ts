/** Returns a function that runs `work`: one run at a time, and one more for all calls meanwhile. A run that rejects ends it. */
export function oneAtATime(work: () => Promise<void>): () => void {
  let isDue = false;
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    try {
      while (isDue) {
        isDue = false;
        await work();
      }
    } catch {
      // It was closed.
    }
    isRunning = false;
  }

  return () => {
    isDue = true;
    if (!isRunning) void run();
  };
}
