/** Every way in which logging in to the provider fails. They are not verdicts: no check is evaluated after one. */
export type IdpErrorCode =
  | "unreachable"
  | "tls_failed"
  | "wrong_org"
  | "bad_key"
  | "wrong_client"
  | "access_denied"
  | "clock_skew"
  | "dpop_refused"
  | "no_scope"
  | "no_role"
  | "provider_error";

/** Document on stdout instead of a report when nothing could be evaluated (exit code 3). */
export interface ErrorReport {
  readonly schema: "scanstream.error/1";
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

/**
 * The provider could not be logged in to, or does not let the scanner read. Message and remedy are written for the
 * administrator who set the service application up; they never hold key material, an assertion or a token.
 */
export class IdpError extends Error {
  readonly code: IdpErrorCode;
  /** Steps that help, in the words of the provider's console. */
  readonly remedy: string;

  constructor(code: IdpErrorCode, message: string, remedy: string) {
    super(message);
    this.name = "IdpError";
    this.code = code;
    this.remedy = remedy;
  }
}

/** The value, or why the provider cannot be used; anything else is thrown on. */
export async function attempt<Value>(promise: Promise<Value>): Promise<Value | IdpError> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof IdpError) return error;
    throw error;
  }
}

export function toErrorReport(error: IdpError): ErrorReport {
  return { schema: "scanstream.error/1", code: error.code, message: error.message, remedy: error.remedy };
}
