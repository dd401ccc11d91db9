/** The code that the system or a library gave an error, `ENOENT`; null when it has none. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  const code = errorCode(error);
  return code !== null && codes.includes(code);
}
