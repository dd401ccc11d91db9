import { AppError } from "../../../shared/app_error.ts";
import { pause } from "../../../shared/abortable.ts";
import { timesFree } from "../../../shared/fair_share.ts";
import { createSteadyClock } from "../../../shared/steady_clock.ts";
import type { Turns } from "../../http/budget.ts";

/** A request that Cloudflare ended gives nothing back: what was not heard of for so long is taken from it. */
const defaultRunMs = 30_000;
const maxSilenceMs = 2000;
/** Of one holder. */
const maxWaiting = 1024;
/** The next one of a holder asks this often; those behind it more rarely, the further the more. */
const askMs = 5;
const maxAskMs = 250;

interface Ticket {
  /** When it asked last, or began to run. */
  heardMs: number;
}

/**
 * `FairTurns` for requests that may not wait for one another: in a Worker a promise that another request settles belongs to that
 * request. So each asks for its turn with a timer of its own. Who asks first of two holders is chance; one holder has one that asks.
 */
export class PolledTurns implements Turns {
  readonly #atOnce: number;
  readonly #nowMs: () => number;
  readonly #maxRunMs: number;
  readonly #waiting = new Map<string, Ticket[]>();
  readonly #running = new Map<string, Set<Ticket>>();

  /** `maxRunMs`: what runs longer goes on, and no longer counts. */
  constructor(atOnce: number, nowMs: () => number, { maxRunMs = defaultRunMs }: { readonly maxRunMs?: number } = {}) {
    this.#atOnce = atOnce;
    this.#nowMs = createSteadyClock(nowMs);
    this.#maxRunMs = maxRunMs;
  }

  /** Rejects with what `work` rejects with, and with `AppError("too_many")` where too many of the holder wait. */
  async run<Result>(holder: string, work: () => Promise<Result>): Promise<Result> {
    const ticket: Ticket = { heardMs: this.#nowMs() };
    if ((this.#waiting.get(holder)?.length ?? 0) >= maxWaiting) {
      throw new AppError("too_many", "Too many requests of this tenant at the same time", { retryAfterSeconds: 2 });
    }
    for (let place = this.#ask(holder, ticket); place >= 0; place = this.#ask(holder, ticket)) {
      await pause(Math.min(askMs * (place + 1), maxAskMs), []);
    }
    try {
      return await work();
    } finally {
      this.#end(holder, ticket);
    }
  }

  /** Begins its turn if it has one: -1; otherwise how many of its holder are before it. */
  #ask(holder: string, ticket: Ticket): number {
    const nowMs = this.#nowMs();
    ticket.heardMs = nowMs;
    const queue = (this.#waiting.get(holder) ?? []).filter(({ heardMs }) => nowMs - heardMs <= maxSilenceMs);
    // Taken for gone while it asked too late.
    if (!queue.includes(ticket)) queue.push(ticket);
    const place = queue.indexOf(ticket);
    const begins = place === 0 && this.#hasTurn(holder, nowMs);
    if (begins) queue.shift();
    if (queue.length > 0) this.#waiting.set(holder, queue);
    else this.#waiting.delete(holder);
    if (!begins) return place;
    this.#running.set(holder, (this.#running.get(holder) ?? new Set()).add(ticket));
    return -1;
  }

  #hasTurn(holder: string, nowMs: number): boolean {
    let total = 0;
    for (const [other, tickets] of this.#running) {
      for (const ticket of tickets) if (nowMs - ticket.heardMs > this.#maxRunMs) this.#end(other, ticket);
      total += tickets.size;
    }
    const free = this.#atOnce - total;
    const running = this.#running.get(holder)?.size ?? 0;
    return free > 0 && (running === 0 || running < timesFree * (free - 1));
  }

  #end(holder: string, ticket: Ticket): void {
    const tickets = this.#running.get(holder);
    if (tickets?.delete(ticket) === true && tickets.size === 0) this.#running.delete(holder);
  }
}
