import { pause } from "../../shared/abortable.ts";
import { FairShare } from "../../shared/fair_share.ts";
import { FairTurns } from "../../shared/fair_turns.ts";

/**
 * What the requests of a process may hold at the same time, shared by its tenants (`shared/fair_share.ts`): anything over a tenant's
 * share is refused with 429 or 503 and `Retry-After`, before it costs memory. Turns at the database and openings of
 * streams have bounds where they are waited for; all defaults stand in docs/operate.md.
 */
export class Budget {
  /** Requests of members and keys that are being answered; event streams have bounds of their own. */
  readonly requests: FairShare;
  readonly bodyBytes: FairShare;
  /** Bytes of answers that are written piece by piece, while their clients read them. */
  readonly responseBytes: FairShare;
  /** Bytes of answers that are made, and wait for their clients; measured now and then. */
  readonly unreadBytes: FairShare;
  /** Pages and parts of megabytes: each holds the database and the event loop for several milliseconds. */
  readonly largeReads: Turns;

  constructor({ requests, bodyBytes, responseBytes, largeReads = new RestingTurns() }: BudgetBounds) {
    this.largeReads = largeReads;
    this.requests = new FairShare({ max: requests, what: "requests" });
    this.bodyBytes = new FairShare({ max: bodyBytes, what: "bytes of bodies" });
    this.responseBytes = new FairShare({ max: responseBytes, what: "large answers" });
    this.unreadBytes = new FairShare({ max: responseBytes, what: "answers that are not read" });
  }

  /** Begins the account of a request; until it is authenticated, the holder is who it seems to be (`auth/known_callers.ts`). */
  open(request: Request, holder = ""): RequestAccount {
    const account = new RequestAccount(this, holder, request.method === "HEAD");
    accounts.set(request, account);
    return account;
  }
}

export interface BudgetBounds {
  readonly requests: number;
  readonly bodyBytes: number;
  readonly responseBytes: number;
  /** Default: those of a process. */
  readonly largeReads?: Turns;
}

/** Runs the work when it is the holder's turn, and settles as it does. */
export interface Turns {
  run<Result>(holder: string, work: () => Promise<Result>): Promise<Result>;
}

/** A report of 32 MiB has to find room in the smallest process. */
const leastBytes = 48 * 1_048_576;
const maxRequests = 2048;
/** Two of one tenant, and always one of another. */
export const maxLargeReads = 3;
const maxRestMs = 50;

/** For a process with so much memory: an eighth of it for bodies, and another for answers. */
export function boundsFor(memoryBytes: number): BudgetBounds {
  const bytes = Math.max(leastBytes, memoryBytes / 8);
  return { requests: maxRequests, bodyBytes: bytes, responseBytes: bytes };
}

/**
 * A turn lasts for as long again as its work: small requests of others find the event loop free half of the time, also while large
 * answers are asked for without end.
 */
class RestingTurns implements Turns {
  readonly #turns = new FairTurns(maxLargeReads);

  run<Result>(holder: string, work: () => Promise<Result>): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    // Never rejects.
    void this.#turns.run(holder, async () => {
      const begunMs = performance.now();
      await work().then(resolve, reject);
      await pause(Math.min(performance.now() - begunMs, maxRestMs), []);
    });
    return promise;
  }
}

const accounts = new WeakMap<Request, RequestAccount>();

/** What one request holds; throws as `FairShare.take` does. */
export class RequestAccount {
  readonly #budget: Budget;
  readonly #hasNoBody: boolean;
  #holder: string;
  #requests = 0;
  #bodyBytes = 0;

  constructor(budget: Budget, holder: string, hasNoBody: boolean) {
    this.#budget = budget;
    this.#holder = holder;
    this.#hasNoBody = hasNoBody;
  }

  /** The tenant whose request it is, or who it seems to be as long as that is not known. */
  get holder(): string {
    return this.#holder;
  }

  belongsTo(tenantId: string): void {
    this.#budget.requests.take(tenantId);
    this.#requests += 1;
    this.#holder = tenantId;
  }

  /** Bytes of the request's body that are in memory, or will be. */
  takeBody(bytes: number): void {
    this.#budget.bodyBytes.take(this.#holder, bytes);
    this.#bodyBytes += bytes;
  }

  /** Runs what reads much from the database when it is the tenant's turn. */
  readLarge<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#budget.largeReads.run(this.#holder, work);
  }

  /**
   * Holds bytes for an answer that outlives the handler, before anything is read for it: until the body that `open` makes was read to
   * its end, failed, or was left. Rejects with what `open` rejects with.
   */
  async holdUntilRead(
    bytes: number,
    open: () => Promise<ReadableStream<Uint8Array>>,
  ): Promise<ReadableStream<Uint8Array>> {
    if (this.#hasNoBody) return open();
    const { responseBytes } = this.#budget;
    const holder = this.#holder;
    responseBytes.take(holder, bytes);
    const give = () => responseBytes.give(holder, bytes);
    const reader = await open().then(
      (body) => body.getReader(),
      (error: unknown) => {
        give();
        throw error;
      },
    );
    return new ReadableStream({
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) {
            controller.enqueue(value);
            return;
          }
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        give();
      },
      async cancel(reason) {
        give();
        await reader.cancel(reason);
      },
    });
  }

  /** The answer is made; what was held for it is free, but for `holdUntilRead`. */
  close(): void {
    if (this.#requests > 0) this.#budget.requests.give(this.#holder, this.#requests);
    if (this.#bodyBytes > 0) this.#budget.bodyBytes.give(this.#holder, this.#bodyBytes);
    this.#requests = 0;
    this.#bodyBytes = 0;
  }
}

/** A request without one uses a separate budget, as in a test of a single route. */
export function accountOf(request: Request): RequestAccount {
  return accounts.get(request) ?? new Budget(boundsFor(0)).open(request);
}
