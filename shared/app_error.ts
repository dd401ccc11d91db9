/** Every way in which the platform refuses or fails that a caller branches on. */
export type ErrorCode =
  | "not_authenticated"
  | "permission_denied"
  | "not_found"
  | "conflict"
  | "malformed"
  | "invalid"
  | "method_not_allowed"
  | "unsupported_media_type"
  | "too_large"
  | "too_many"
  | "unavailable";

export type LoginProblem =
  | "expired"
  | "not_yet_valid"
  | "issuer"
  | "audience"
  | "signature"
  | "malformed"
  | "tenant_claim"
  | "not_a_member"
  | "unknown_key"
  | "revoked_key"
  | "api_key_as_bearer";

export interface AppErrorOptions {
  readonly cause?: unknown;
  /** Why a login was refused: for the log, never for the response. */
  readonly loginProblem?: LoginProblem;
  /** When it is worth trying again. */
  readonly retryAfterSeconds?: number;
  /** Headers of the answer over HTTP, such as `Allow`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An expected failure. The message is written for the public: it never holds a secret. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly loginProblem: LoginProblem | null;
  readonly retryAfterSeconds: number | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.loginProblem = options.loginProblem ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
    this.headers = options.headers ?? {};
  }
}

/** Thrown by `getChannels` when the resource does not exist or is not visible to the principal. */
export class NotFound extends AppError {
  constructor(message = "No such resource", options: AppErrorOptions = {}) {
    super("not_found", message, options);
    this.name = "NotFound";
  }
}

/** Thrown by `getChannels` when the resource is visible but the principal may not follow it. */
export class PermissionDenied extends AppError {
  constructor(message = "Not permitted", options: AppErrorOptions = {}) {
    super("permission_denied", message, options);
    this.name = "PermissionDenied";
  }
}

export function isUnavailable(error: unknown): error is AppError {
  return error instanceof AppError && error.code === "unavailable";
}
