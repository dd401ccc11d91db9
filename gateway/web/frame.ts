/** Runs `render` once in the next frame, however often it is asked for; and not at all in a hidden tab. */
export function createFrameRenderer(render: () => void): { request(): void; stop(): void } {
  let frame: number | null = null;
  let isStopped = false;
  return {
    request() {
      if (isStopped) return;
      frame ??= requestAnimationFrame(() => {
        frame = null;
        render();
      });
    },
    stop() {
      isStopped = true;
      if (frame !== null) cancelAnimationFrame(frame);
    },
  };
}
