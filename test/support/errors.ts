type ErrorType<Kind> = abstract new (...parts: never[]) => Kind;

/** Returns the error of this type that is thrown; fails where nothing or something else is thrown. */
export function thrownBy<Kind extends Error>(type: ErrorType<Kind>, act: () => unknown): Kind {
  try {
    act();
  } catch (error) {
    if (error instanceof type) return error;
    throw error;
  }
  throw new Error("Nothing was thrown");
}

/** Returns the error of this type with which the promise is rejected; fails where it is fulfilled, or rejected with another one. */
export async function rejectionOf<Kind extends Error>(type: ErrorType<Kind>, promise: Promise<unknown>): Promise<Kind> {
  const outcome = await promise.catch((error: unknown) => error);
  if (outcome instanceof type) return outcome;
  throw outcome instanceof Error ? outcome : new Error("It was fulfilled");
}
