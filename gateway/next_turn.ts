interface Immediates {
  readonly setImmediate?: (callback: () => void) => unknown;
  readonly clearImmediate?: (immediate: unknown) => void;
}

/**
 * The callback runs after all of a turn's input was read: `setImmediate`; where a runtime has none, a timer. Returns what takes
 * it back: a thousand timers that nobody waits for any more cost workerd seconds.
 */
export function nextTurn(callback: () => void): () => void {
  const { setImmediate: immediate, clearImmediate } = globalThis as Immediates;
  if (immediate === undefined) {
    const timer = setTimeout(callback, 0);
    return () => clearTimeout(timer);
  }
  const turn = immediate(callback);
  return () => clearImmediate?.(turn);
}
