/** Every way in which the platform refuses or fails, as HTTP has it. */
export const problemKinds = {
  malformed: { status: 400, title: "Malformed request" },
  not_authenticated: { status: 401, title: "Not authenticated" },
  permission_denied: { status: 403, title: "Not permitted" },
  not_found: { status: 404, title: "Not found" },
  method_not_allowed: { status: 405, title: "Method not allowed" },
  conflict: { status: 409, title: "Conflict" },
  too_large: { status: 413, title: "Too large" },
  unsupported_media_type: { status: 415, title: "Unsupported media type" },
  invalid: { status: 422, title: "Invalid" },
  too_many: { status: 429, title: "Too many" },
  internal: { status: 500, title: "Internal error" },
  unavailable: { status: 503, title: "Unavailable" },
} as const;

/** A refusal or failure that callers handle; `internal` is a bug. */
export type ErrorCode = Exclude<keyof typeof problemKinds, "internal">;

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
