import { subscribe } from "../../shared/client/subscribe.ts";
import type { SubscribeError } from "../../shared/client/subscribe_error.ts";
import type { ProducedScan } from "./producer.ts";
import { createSequence, type Sequence } from "./sequence.ts";
import type { Tally } from "./tally.ts";

/** One stream, over its reconnects. */
export interface LoadStream {
  /** Resolves when the first request was answered, or failed. */
  readonly answered: Promise<void>;
  readonly isOpen: boolean;
  /** It has received everything that was published while it was open. */
  readonly isComplete: boolean;
  /** Closes it and counts what is missing at its end. */
  close(): Promise<void>;
}

export interface LoadStreamOptions {
  readonly url: URL;
  readonly credentials: { readonly apiKey: string } | { readonly getAccessToken: () => Promise<string> };
  readonly tally: Tally;
  /** Null: no event is counted. */
  readonly published: ProducedScan | null;
}

export function openLoadStream({ url, credentials, tally, published }: LoadStreamOptions): LoadStream {
  const answered = Promise.withResolvers<void>();
  const sequence: Sequence | null = published === null ? null : createSequence(tally);
  let isOpen = false;
  let lastError: SubscribeError | null = null;

  const subscription = subscribe<Record<string, Readonly<Record<string, unknown>>>>(url, {
    ...credentials,
    onOpen() {
      isOpen = true;
      tally.opened();
      sequence?.open(published?.last() ?? 0);
    },
    onEvent({ type, data }) {
      tally.event();
      const number = published?.numberOf(type, data) ?? null;
      if (number === null) return;
      sequence?.receive(number);
    },
    onStateChange(state, { error }) {
      if (state === "connecting") return;
      answered.resolve();
      if (state === "live") return;
      isOpen = false;
      if (state === "ended") tally.closed("ended");
      // Reported before the pause and after it.
      if (error !== null && error !== lastError) count(error, tally);
      lastError = error;
    },
  });

  return {
    answered: answered.promise,
    get isOpen() {
      return isOpen;
    },
    get isComplete() {
      return sequence === null || published === null || sequence.hasReceived(published.last());
    },
    async close() {
      if (isOpen) sequence?.close(published?.last() ?? 0);
      subscription.close();
      await subscription.finished;
    },
  };
}

function count({ code, status, detail, retryAfterMs }: SubscribeError, tally: Tally): void {
  if (status !== null) tally.refused({ status, detail, retryAfterMs });
  else if (code === "closed") tally.closed(detail ?? "without a reason");
  else tally.failed(code);
}
