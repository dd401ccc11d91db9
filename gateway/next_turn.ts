interface Immediates {
  readonly setImmediate?: (callback: () => void) => unknown;
}

/** The callback runs after all of a turn's input was read: `setImmediate`; where a runtime has none, a timer. */
export function nextTurn(callback: () => void): void {
  const { setImmediate: immediate } = globalThis as Immediates;
  if (immediate === undefined) setTimeout(callback, 0);
  else immediate(callback);
}
