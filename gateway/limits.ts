import type { Database, TransactionSettings } from "../drizzle/database.ts";
import { databaseUnavailable } from "../drizzle/database_error.ts";
import { AppError } from "../shared/app_error.ts";
import { nextTurn } from "./next_turn.ts";

export interface LimitOptions {
  /** Memory of the process. Default: what a gateway needs. */
  readonly memoryBytes?: number | undefined;
  readonly maxStreams: number;
  readonly maxStreamsPerTenant: number;
  /** How much of each of the other limits one tenant may take. Default 25. */
  readonly tenantPercent?: number;
}

/** A quarter: three tenants at their limits leave one to a fourth. */
export const defaultTenantPercent = 25;
/** Connections to Postgres: those of tenants, and those that find out whose request it is. */
export const maxConnections = 20;

const maxLookups = 4;
const maxRequests = 2048;
/** Chunks that are written to streams: a write to a socket costs 4 to 5 µs. */
const maxDeliveriesPerSecond = 200_000;
const defaultMemoryBytes = 1024 * 1_048_576;
/** A quarter of it is one report of 4 MiB and one page of findings. */
const leastBytes = 48 * 1_048_576;

/**
 * Everything of which a process has only so much, and how much of it one tenant may take, so that a tenant at its limits never makes
 * another's request fail (S6). docs/operate.md has the table.
 */
export class Limits {
  readonly streams: Limit;
  /** Bytes that wait for clients: of streams, pages, reports and exports. */
  readonly unreadBytes: Limit;
  /** Requests of members and keys, until their responses are closed. */
  readonly requests: Limit;
  /** Requests of an address, until it is known whose they are. */
  readonly arrivals: Limit;
  readonly bodyBytes: Limit;
  /** Undefined: one tenant may have all of them. */
  readonly deliveries: DeliveryRate | undefined;
  readonly #transactions: Turns;
  readonly #lookups = new Turns(maxLookups, maxLookups);

  constructor(options: LimitOptions) {
    const { memoryBytes = defaultMemoryBytes, maxStreams, maxStreamsPerTenant } = options;
    const partOf = (max: number) => Math.floor((max * (options.tenantPercent ?? defaultTenantPercent)) / 100);
    const shared = (max: number, what: string, holder = "tenant") =>
      new Limit({ max, maxPerHolder: partOf(max), what, holder });
    const bytes = Math.max(leastBytes, memoryBytes / 8);
    const ofStreams = { what: "open streams", holder: "tenant" };
    this.streams = new Limit({ max: maxStreams, maxPerHolder: maxStreamsPerTenant, ...ofStreams });
    this.unreadBytes = shared(bytes, "bytes that clients have not read");
    this.requests = shared(maxRequests, "requests at the same time");
    this.arrivals = shared(maxRequests, "requests that are not authenticated yet", "address");
    this.bodyBytes = shared(bytes, "bytes of bodies");
    if (options.tenantPercent !== 100) this.deliveries = new DeliveryRate(partOf(maxDeliveriesPerSecond));
    const transactions = maxConnections - maxLookups;
    this.#transactions = new Turns(transactions, Math.max(1, partOf(transactions)));
  }

  /** Begins the account of a request, which belongs to its address until it is authenticated. Throws as `Limit.take` does. */
  open(request: Request, address: string): RequestAccount {
    const account = new RequestAccount(this, address);
    accounts.set(request, account);
    return account;
  }

  /** The database, with a few transactions of each tenant at a time. */
  limitDatabase(database: Database): Database {
    const inTurn = <Result>({ holder, tenantId }: TransactionSettings, run: () => Promise<Result>) =>
      holder === undefined ? this.#transactions.run(tenantId, run) : this.#lookups.run(holder, run);
    return {
      // oxlint-disable-next-line no-restricted-properties -- hands on what drizzle/transactions.ts calls
      transact: (settings, work) => inTurn(settings, () => database.transact(settings, work)),
      transactOne: (settings, query) => inTurn(settings, () => database.transactOne(settings, query)),
      close: () => database.close(),
    };
  }
}

interface LimitNumbers {
  readonly max: number;
  readonly maxPerHolder: number;
  /** As in `"The <holder>'s limit of 7 <what> is reached"`. */
  readonly what: string;
  readonly holder: string;
}

/** Something that tenants (or addresses) hold and give back. */
export class Limit {
  readonly #numbers: LimitNumbers;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(numbers: LimitNumbers) {
    this.#numbers = numbers;
  }

  get total(): number {
    return this.#total;
  }

  /** Throws `AppError` with a time to try again: `too_many` over the holder's maximum, `unavailable` over the process's. */
  take(holder: string, amount = 1): void {
    const { max, maxPerHolder, what, holder: kind } = this.#numbers;
    // Spread, so that clients that are refused together do not come back together.
    const retryAfterSeconds = 2 + Math.floor(Math.random() * 9);
    if ((this.#held.get(holder) ?? 0) + amount > maxPerHolder) {
      throw new AppError("too_many", `The ${kind}'s limit of ${maxPerHolder} ${what} is reached`, {
        retryAfterSeconds,
      });
    }
    if (this.#total + amount > max) {
      throw new AppError("unavailable", `The gateway's limit of ${max} ${what} is reached`, { retryAfterSeconds });
    }
    this.add(holder, amount);
  }

  give(holder: string, amount = 1): void {
    this.add(holder, -amount);
  }

  /** Adds what is held already, or takes it off. False: now it is over a maximum. */
  add(holder: string, amount: number): boolean {
    const held = (this.#held.get(holder) ?? 0) + amount;
    this.#total += amount;
    if (held > 0) this.#held.set(holder, held);
    else this.#held.delete(holder);
    return held <= this.#numbers.maxPerHolder && this.#total <= this.#numbers.max;
  }
}

const accounts = new WeakMap<Request, RequestAccount>();

/** The account of a request. One that no app has opened, as in a test of a single route, has limits of its own. */
export function accountOf(request: Request): RequestAccount {
  return accounts.get(request) ?? new Limits({ maxStreams: 1, maxStreamsPerTenant: 1 }).open(request, "");
}

/** Amounts that one request holds. Its methods throw as `Limit.take` does. */
export class RequestAccount {
  readonly #limits: Limits;
  #holder: string;
  #isTenant = false;
  #isClosed = false;
  #bodyBytes = 0;
  #answerBytes = 0;

  constructor(limits: Limits, address: string) {
    limits.arrivals.take(address);
    this.#limits = limits;
    this.#holder = address;
  }

  /** The tenant, or the address as long as that is not known. */
  get holder(): string {
    return this.#holder;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  belongsTo(tenantId: string): void {
    this.#limits.requests.take(tenantId);
    this.#limits.arrivals.give(this.#holder);
    this.#holder = tenantId;
    this.#isTenant = true;
  }

  /** Bytes of the request's body that are in memory, or will be; until it is answered. */
  takeBody(bytes: number): void {
    this.#limits.bodyBytes.take(this.#holder, bytes);
    this.#bodyBytes += bytes;
  }

  /** Bytes of the answer that wait for the client, until the response is closed. */
  takeAnswer(bytes: number): void {
    this.#limits.unreadBytes.take(this.#holder, bytes);
    this.#answerBytes += bytes;
  }

  /** The handler has ended. */
  answered(): void {
    this.#limits.bodyBytes.give(this.#holder, this.#bodyBytes);
    this.#bodyBytes = 0;
  }

  /** The client has the whole answer, or is gone; or a stream begins, which has limits of its own. A second call does nothing. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.answered();
    this.#limits.unreadBytes.give(this.#holder, this.#answerBytes);
    const { requests, arrivals } = this.#limits;
    (this.#isTenant ? requests : arrivals).give(this.#holder);
  }
}

/** Longer than a burst takes, shorter than clients wait. */
const maxWaitMs = 2000;

/** Runs so much at a time, and so much of each holder. The rest waits, 2 s at most, and holders take turns. */
class Turns {
  readonly #maxPerHolder: number;
  /** A map gives its keys in the order in which they were set: the first holder has waited longest for its turn. */
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #running = new Map<string, number>();
  #free: number;

  constructor(max: number, maxPerHolder: number) {
    this.#free = max;
    this.#maxPerHolder = maxPerHolder;
  }

  async run<Result>(holder: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#hasTurn(holder)) this.#begin(holder);
    else await this.#wait(holder);
    try {
      return await work();
    } finally {
      this.#end(holder);
    }
  }

  #hasTurn(holder: string): boolean {
    return this.#free > 0 && (this.#running.get(holder) ?? 0) < this.#maxPerHolder;
  }

  #begin(holder: string): void {
    this.#free -= 1;
    this.#running.set(holder, (this.#running.get(holder) ?? 0) + 1);
  }

  #wait(holder: string): Promise<void> {
    const queue = this.#waiting.get(holder) ?? new Set();
    this.#waiting.set(holder, queue);
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      const giveUp = () => {
        if (!queue.delete(begin)) return;
        if (queue.size === 0) this.#waiting.delete(holder);
        reject(databaseUnavailable(new Error(`The transaction waited longer than ${maxWaitMs} ms for its turn`)));
      };
      // After a long turn of the event loop, the answers that have come meanwhile are read first.
      const timer = setTimeout(() => nextTurn(giveUp), maxWaitMs);
      queue.add(begin);
    });
  }

  #end(holder: string): void {
    this.#free += 1;
    const running = (this.#running.get(holder) ?? 0) - 1;
    if (running > 0) this.#running.set(holder, running);
    else this.#running.delete(holder);
    for (const [next, queue] of this.#waiting) {
      if (!this.#hasTurn(next)) continue;
      const [begin] = queue;
      if (begin !== undefined) queue.delete(begin);
      // Behind all others, if more of it waits.
      this.#waiting.delete(next);
      if (queue.size > 0) this.#waiting.set(next, queue);
      this.#begin(next);
      begin?.();
      return;
    }
  }
}

/** A tenant that was quiet may have the deliveries of this time at once. */
const burstMs = 100;
const maxTenants = 10_000;

/** How many chunks a second are written to the streams of one tenant. */
export class DeliveryRate {
  readonly #perMs: number;
  readonly #tenants = new Map<string, { left: number; atMs: number }>();

  constructor(perSecond: number) {
    this.#perMs = perSecond / 1000;
  }

  /** False: not now, ask again some milliseconds later. A large channel may take more than is left, and waits the longer for it. */
  take(tenantId: string, deliveries: number, nowMs: number): boolean {
    const burst = burstMs * this.#perMs;
    const known = this.#tenants.get(tenantId);
    const left = known === undefined ? burst : Math.min(burst, known.left + (nowMs - known.atMs) * this.#perMs);
    const isNow = left > 0;
    if (this.#tenants.size >= maxTenants) this.#tenants.clear();
    this.#tenants.set(tenantId, { left: isNow ? left - deliveries : left, atMs: nowMs });
    return isNow;
  }
}
