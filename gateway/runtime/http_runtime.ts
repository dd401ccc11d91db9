import { AppError } from "../../shared/app_error.ts";
import { hasCode } from "../../shared/error_code.ts";
import { settingsError } from "../../shared/usage_error.ts";
import { problemResponse } from "../http/problem.ts";
import type { CreateSink } from "../streaming/sinks/sink.ts";

/** How a runtime serves HTTP: `node_http.ts` by sockets, `deno_http.ts` by `Deno.serve`. */
export interface HttpRuntime {
  /** Sinks for the bytes of streams. */
  readonly createSink: CreateSink;
  /** `env` is what `fetch` was given. */
  readonly peerAddress: (env: unknown) => string | null;
  /** Calls `release` once the client has the whole answer, or is gone. */
  readonly onClosed: (env: unknown, release: () => void) => void;
  /** A server that closes ends connections that are idle, just when a proxy may send a request on one: answers say so before. */
  readonly endsIdle?: true;
  /** Rejects with `UsageError` for an address that cannot be listened on. */
  serve(fetch: Fetch, address: ListenAddress): Promise<HttpServer>;
}

export type Fetch = (request: Request, env: object) => Response | Promise<Response>;

export interface ListenAddress {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** False: for the metrics alone, where one client comes; the other gets thousands. */
  readonly isForClients: boolean;
  /** The settings that an error names: variables, or options of `serve`. */
  readonly names: { readonly host: string; readonly port: string };
}

export interface HttpServer {
  readonly port: number;
  /** Accepts nothing more. Resolves when every connection is closed, at the latest after `withinMs`. */
  close(options: CloseOptions): Promise<void>;
}

export interface CloseOptions {
  /** Settles when the streams have ended: the connections that are left can be closed. */
  readonly drained: Promise<unknown>;
  readonly withinMs: number;
}

/**
 * Connections that wait to be accepted: as many as are opened in twenty seconds where streams are opened slowly. In a storm the ones that
 * wait until their clients give up are accepted all the same, each for a third of what a stream costs. The ones that the kernel does
 * not let in cost nothing, and try again after 1, 3, 7, 15 s. The runtimes' own 511 are fewer than what a process opens in a second.
 */
export const maxUnaccepted = 4096;

/** The answer to what fails outside of the app: a Host or target that cannot be. */
export function refuseRequest(error: unknown): Response {
  return problemResponse(
    error instanceof AppError ? error : new AppError("malformed", "The request cannot be understood"),
  );
}

/** The `UsageError` for an address that cannot be listened on, or the error itself. */
export function listenProblem(error: unknown, { host, port, names }: ListenAddress): unknown {
  const because = (problem: string) => settingsError(problem, { cause: error });
  if (hasCode(error, "EADDRINUSE")) {
    return because(`${names.port}: expected a free port: another program listens on ${host}:${port}`);
  }
  if (hasCode(error, "EACCES")) {
    return because(`${names.port}: expected a port that this user may listen on, 1024 or higher`);
  }
  if (hasCode(error, "ENOTFOUND", "EADDRNOTAVAIL", "EAI_AGAIN", "EINVAL")) {
    return because(`${names.host}: expected an address of this machine, such as 127.0.0.1 or 0.0.0.0`);
  }
  return error;
}
