/** Settles as the promise does, but rejects with what `toError` gives when that takes longer. A later rejection is ignored. */
export async function withTimeout<Value>(
  promise: Promise<Value>,
  timeoutMs: number,
  toError: () => Error = () => new DOMException(`No result within ${timeoutMs} ms`, "TimeoutError"),
): Promise<Value> {
  const { promise: timedOut, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(toError()), timeoutMs);
  try {
    return await Promise.race([promise, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}

/** True for the error of a `withTimeout` or an `AbortSignal.timeout` that took longer. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}
