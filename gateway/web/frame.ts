/**
 * A breath for a loop over many things: nothing while it has worked for less than `budgetMs`, and then a promise that
 * resolves after whatever else waits (input, a frame) had its turn.
 */
export function createBreather(budgetMs: number): () => Promise<void> | undefined {
  let workingSinceMs = performance.now();
  // A timer would do, but in a hidden tab it comes only once a second.
  const { port1, port2 } = new MessageChannel();
  const waiting: (() => void)[] = [];
  port1.addEventListener("message", () => {
    workingSinceMs = performance.now();
    waiting.shift()?.();
  });
  port1.start();
  return () => {
    if (performance.now() - workingSinceMs < budgetMs) return undefined;
    return new Promise((resolve) => {
      waiting.push(resolve);
      port2.postMessage(null);
    });
  };
}

/**
 * Runs `render` once in the next frame, however often it is asked for. A hidden tab has no frames: there it runs once in
 * a second, so that the title still tells how far the scan is.
 */
export function createFrameRenderer(render: () => void): { request(): void; stop(): void } {
  let frame: number | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let isStopped = false;

  function clear(): void {
    if (frame !== null) cancelAnimationFrame(frame);
    if (timer !== null) clearTimeout(timer);
    frame = null;
    timer = null;
  }

  function run(): void {
    clear();
    render();
  }

  return {
    request() {
      if (isStopped) return;
      if (document.hidden) timer ??= setTimeout(run, 1000);
      else frame ??= requestAnimationFrame(run);
    },
    stop() {
      isStopped = true;
      clear();
    },
  };
}
