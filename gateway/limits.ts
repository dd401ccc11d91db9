import type { Database } from "../drizzle/database.ts";
import { AppError } from "../shared/app_error.ts";
import type { Principal } from "./auth/principal.ts";
import { afterReading, createTurns } from "./turns.ts";

export interface LimitOptions {
  /** Memory of the process. Default: what a gateway needs. */
  readonly memoryBytes?: number | undefined;
  readonly maxStreams: number;
  readonly maxStreamsPerTenant: number;
  /** How much of each of the other limits one tenant may take. Default 25. */
  readonly tenantPercent?: number;
  /** False: no request may wait for another one, as on Workers. Default true. */
  readonly hasTurns?: boolean;
}

/** A quarter: three tenants at their limits leave one to a fourth. */
export const defaultTenantPercent = 25;
/** Connections to Postgres: those of tenants, and those that find out whose request it is. */
export const maxConnections = 20;

const maxLookups = 4;
const maxRequests = 2048;
/** Requests and transactions in one turn of the event loop: all of them wait for its end, also those of a tenant that sends little. */
const maxStarts = 2;
/** Making so much of an answer takes as long as one start does, and so does reading so much of a body. */
const bytesOfStart = 16_384;
/** The cost of a full page of a list; longer answers are sent as they are stored. */
const maxStartsOfAnswer = 16;
/** After such an answer a tenant has one transaction at a time: answers that come together delay those to everybody else. */
const largeAnswerBytes = 131_072;
const maxCredentials = 10_000;
/** Chunks that are written to streams: a write to a socket costs 4 to 5 µs. */
const maxDeliveriesPerSecond = 200_000;
const defaultMemoryBytes = 1024 * 1_048_576;
/** A quarter of it is the body of one report, or an export, and some pages of findings. */
const leastBytes = 48 * 1_048_576;

/**
 * Everything of which a process has only so much, and how much of it one tenant may take, so that a tenant at its limits never makes
 * another's request fail (S6). docs/operate.md has the table.
 */
export function createLimits(options: LimitOptions) {
  const { memoryBytes = defaultMemoryBytes, maxStreams, maxStreamsPerTenant } = options;
  const { tenantPercent = defaultTenantPercent, hasTurns = true } = options;
  const partOf = (max: number) => Math.floor((max * tenantPercent) / 100);
  const shared = (max: number, what: string) => createLimit(max, partOf(max), what);
  const ofCallers = (max: number, maxOfOne: number, what: string) => createLimit(max, maxOfOne, what, "caller");
  const bytes = Math.max(leastBytes, memoryBytes / 8);
  const maxTransactions = maxConnections - maxLookups;
  const transactions = createTurns(maxTransactions, Math.max(1, partOf(maxTransactions)));
  const lookups = createTurns(maxLookups);
  const starts = createTurns(maxStarts);
  /** The tenants of credentials that were valid, by their ends. */
  const tenants = new Map<string, string>();

  const limits = {
    streams: createLimit(maxStreams, maxStreamsPerTenant, "open streams"),
    /** Bytes that wait for clients: of streams, pages, reports and exports. */
    unreadBytes: shared(bytes, "bytes that clients have not read"),
    /** Requests of members and keys, until their responses are closed. */
    requests: shared(maxRequests, "requests at the same time"),
    /**
     * Requests of whom they seem to be from, until their caller is known. Twice as many: a tenant has a part with its credential, and
     * its address another without.
     */
    arrivals: ofCallers(2 * maxRequests, partOf(maxRequests), "requests that are not authenticated yet"),
    /** Requests of callers, until it is known that these are still of the tenant that they name: of all of these, and of each. */
    newcomers: shared(maxRequests, "requests that are not authorized yet"),
    callers: ofCallers(maxRequests, partOf(partOf(maxRequests)), "requests that are not authorized yet"),
    bodyBytes: shared(bytes, "bytes of bodies"),
    /** Undefined: one tenant may have all of them. */
    deliveries: tenantPercent === 100 ? undefined : createDeliveryRate(partOf(maxDeliveriesPerSecond)),

    /** Begins the account of a request, for its address or the tenant that its credential belonged to. Throws as `Limit.take` does. */
    open(request: Request, address: string): RequestAccount {
      const credential = request.headers.get("authorization")?.slice(-64) ?? "";
      const account = new RequestAccount(limits, tenants.get(credential) ?? address, credential);
      accounts.set(request, account);
      return account;
    },

    /**
     * Resolves when the holder's work may begin, which reads so much of a body: a few in each turn of the event loop, those of the holder
     * whose work cost least first.
     */
    async begin(holder: string, bodyBytes = 0): Promise<void> {
      if (!hasTurns) return;
      if (bodyBytes > 0) starts.charge(holder, bodyBytes / bytesOfStart);
      await new Promise<void>((begun, late) => {
        const start = () => {
          begun();
          return new Promise<void>(afterReading);
        };
        starts.run(holder, start).catch(late);
      });
    },

    /** Counts the time that it takes to make an answer. */
    chargeAnswer(holder: string, length: number): void {
      starts.charge(holder, Math.min(length / bytesOfStart, maxStartsOfAnswer));
      transactions.limitToOne(holder, length > largeAnswerBytes);
    },

    /** Requests with the credential are the tenant's from their arrival, or nobody's any more. It authorizes nobody. */
    remember(credential: string, tenantId: string | null): void {
      // Browsers give a stream's token in its address: a request without the header is nobody's.
      if (credential === "" || tenantId === null) return void tenants.delete(credential);
      if (tenants.size >= maxCredentials) tenants.clear();
      tenants.set(credential, tenantId);
    },

    /** The database, with a few transactions of each tenant at a time. */
    limitDatabase(database: Database): Database {
      return {
        transact: (settings, work) => {
          const { holder, tenantId } = settings;
          const run = async () => {
            await limits.begin(holder ?? tenantId);
            // oxlint-disable-next-line no-restricted-properties -- hands on what drizzle/transactions.ts calls
            return database.transact(settings, work);
          };
          return holder === undefined ? transactions.run(tenantId, run) : lookups.run(holder, run);
        },
        close: () => database.close(),
      };
    },
  };
  return limits;
}

export type Limits = ReturnType<typeof createLimits>;

type Limit = ReturnType<typeof createLimit>;

/** Something that tenants (or callers) hold and give back. The texts are those of `The <holder>'s limit of 7 <what> is reached`. */
function createLimit(max: number, maxPerHolder: number, what: string, holderName = "tenant") {
  const held = new Map<string, number>();
  let total = 0;
  return { total: () => total, take, give: (holder: string, amount = 1) => void add(holder, -amount), add };

  /** Throws `AppError` with a time to try again: `too_many` over the holder's maximum, `unavailable` over the process's. */
  function take(holder: string, amount = 1): void {
    // Spread, so that clients that are refused together do not come back together.
    const retry = { retryAfterSeconds: 2 + Math.floor(Math.random() * 9) };
    const reached = (whose: string, most: number) => `The ${whose}'s limit of ${most} ${what} is reached`;
    if ((held.get(holder) ?? 0) + amount > maxPerHolder)
      throw new AppError("too_many", reached(holderName, maxPerHolder), retry);
    if (total + amount > max) throw new AppError("unavailable", reached("gateway", max), retry);
    add(holder, amount);
  }

  /** Adds what is held already, or takes it off. False: now it is over a maximum. */
  function add(holder: string, amount: number): boolean {
    const now = (held.get(holder) ?? 0) + amount;
    total += amount;
    if (now > 0) held.set(holder, now);
    else held.delete(holder);
    return now <= maxPerHolder && total <= max;
  }
}

const accounts = new WeakMap<Request, RequestAccount>();

/** The account of a request. One that no app has opened, as in a test of a single route, has limits of its own. */
export function accountOf(request: Request): RequestAccount {
  return accounts.get(request) ?? createLimits({ maxStreams: 1, maxStreamsPerTenant: 1 }).open(request, "");
}

/** Amounts that one request holds. Its methods throw as `Limit.take` does. */
export class RequestAccount {
  readonly #limits: Limits;
  readonly #credential: string;
  readonly #held: { readonly limit: Limit; readonly holder: string; readonly amount: number }[] = [];
  /** The tenant; until that is known, the one that it seems to be, or the address. */
  holder: string;
  isClosed = false;

  constructor(limits: Limits, holder: string, credential: string) {
    this.#limits = limits;
    this.#credential = credential;
    this.holder = holder;
    this.#take(limits.arrivals, 1);
  }

  /** Counts a caller that may have left its tenant apart from the tenant's requests. Returns false for a credential that was valid before. */
  isNew({ tenantId, id }: Pick<Principal, "tenantId" | "id">): boolean {
    if (this.holder === tenantId) return false;
    this.#give(null);
    this.holder = tenantId;
    this.#take(this.#limits.newcomers, 1);
    this.holder = `${tenantId} ${id}`;
    this.#take(this.#limits.callers, 1);
    return true;
  }

  /** Its authority in the tenant holds. */
  belongsTo(tenantId: string): void {
    this.#give(null);
    this.holder = tenantId;
    this.#take(this.#limits.requests, 1);
    this.#limits.remember(this.#credential, tenantId);
  }

  /** Its next requests do not count on the tenant whose credential it was. */
  refused(): void {
    this.#limits.remember(this.#credential, null);
  }

  /** Bytes of the request's body that are in memory, or will be; until it is answered. */
  takeBody(bytes: number): void {
    this.#take(this.#limits.bodyBytes, bytes);
  }

  /** Resolves when the body, which is in memory, may be parsed: many that are complete at once are not handled in one turn. */
  beginBody(bytes: number): Promise<void> {
    return this.#limits.begin(this.holder, bytes);
  }

  /** Bytes of the answer that wait for the client, until the response is closed. */
  takeAnswer(bytes: number): void {
    this.#take(this.#limits.unreadBytes, bytes);
    this.chargeAnswer(bytes);
  }

  /** Counts the time that it takes to make so much of the answer. */
  chargeAnswer(bytes: number): void {
    this.#limits.chargeAnswer(this.holder, bytes);
  }

  /** The handler has ended. */
  answered(): void {
    this.#give(this.#limits.bodyBytes);
  }

  /** The client has the whole answer, or is gone; or a stream begins, which has limits of its own. A second call does nothing. */
  close(): void {
    this.isClosed = true;
    this.#give(null);
  }

  #take(limit: Limit, amount: number): void {
    limit.take(this.holder, amount);
    this.#held.push({ limit, holder: this.holder, amount });
  }

  /** Gives back everything that is held of a limit; null: of all. */
  #give(given: Limit | null): void {
    for (const { limit, holder, amount } of this.#held.splice(0)) {
      if (given === null || given === limit) limit.give(holder, amount);
      else this.#held.push({ limit, holder, amount });
    }
  }
}

/** A tenant that was quiet may have the deliveries of this time at once. */
const burstMs = 100;
const maxTenants = 10_000;

export type DeliveryRate = ReturnType<typeof createDeliveryRate>;

/** How many chunks a second are written to the streams of one tenant. */
export function createDeliveryRate(perSecond: number) {
  const perMs = perSecond / 1000;
  const burst = burstMs * perMs;
  const tenants = new Map<string, { readonly left: number; readonly atMs: number }>();
  return {
    /** False: not now, ask again some milliseconds later. A large channel may take more than is left, and waits the longer for it. */
    take(tenantId: string, deliveries: number, nowMs: number): boolean {
      const known = tenants.get(tenantId);
      const left = known === undefined ? burst : Math.min(burst, known.left + (nowMs - known.atMs) * perMs);
      const isNow = left > 0;
      if (tenants.size >= maxTenants) tenants.clear();
      tenants.set(tenantId, { left: isNow ? left - deliveries : left, atMs: nowMs });
      return isNow;
    },
  };
}
