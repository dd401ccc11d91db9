/** The code that the system or a library gave an error, `ENOENT`; null when it has none. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(errorCode(error) ?? "");
}

/** Why a file could not be read, in words for a person; null when the error is not one of the system's. */
export function readProblem(error: unknown): string | null {
  const code = errorCode(error);
  return code === null ? null : (readProblems[code] ?? `the system cannot read it (${code})`);
}

const readProblems: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EISDIR: "it is a directory; expected a file",
  ENOENT: "no such file",
  ENOTDIR: "a file stands where a folder is expected",
  EPERM: "permission denied",
};

/** Returns the reason of a failed connection for a person; null for an unknown error without a code. */
export function networkProblem(error: unknown): string | null {
  const code = errorCode(error);
  const problem = networkProblems.find(([pattern]) => pattern.test(code ?? String(error)))?.[1];
  return problem ?? (code === null ? null : "the connection failed");
}

const networkProblems: readonly (readonly [RegExp, string])[] = [
  [/REFUSED/, "the connection was refused"],
  [/RESET|EPIPE|SOCKET/, "the connection was closed"],
  [/NOTFOUND|EAI_AGAIN/, "the host name does not resolve"],
  [/CERT|SIGNATURE/, "the certificate is not trusted (NODE_EXTRA_CA_CERTS), expired, or for another name"],
  [/^HPE_|HEADERS_OVERFLOW|^HTTPParserError/, "the response is not HTTP, or its head is too large"],
  [/unexpected redirect/, "it redirects, which is not followed"],
  [/SSL|TLS|EPROTO/, "the TLS connection failed: does this port speak TLS?"],
];
