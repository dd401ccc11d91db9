import { subscribe, type StreamEvent, type SubscribeOptions } from "./subscribe.ts";

/**
 * The events as an async iterable: the next one is only read when it is asked for. Ends after the terminal event;
 * throws `SubscribeError` when the stream cannot be followed. `break` closes the stream at once.
 *
 *     for await (const event of iterateEvents<ScanEvents>(url, { apiKey })) console.log(event.type);
 *
 * Not an async generator: the `return()` of one stays pending while it waits for an event, so nobody could leave an
 * idle stream.
 */
export function iterateEvents<Events extends object>(
  url: string | URL,
  options: Omit<SubscribeOptions<Events>, "onEvent"> = {},
): AsyncIterableIterator<StreamEvent<Events>> {
  type Event = StreamEvent<Events>;
  const asked: Asked<Event>[] = [];
  let arrived: Arrived<Event> | null = null;
  let end: { readonly error: unknown } | null = null;

  const subscription = subscribe<Events>(url, {
    ...options,
    onEvent: (event) => {
      const next = asked.shift();
      if (next === undefined) {
        return new Promise<void>((taken) => {
          arrived = { event, taken: () => taken() };
        });
      }
      next.resolve({ done: false, value: event });
      return undefined;
    },
  });
  void subscription.finished.then((how) => finish(how.state === "failed" ? how.error : null));

  function finish(error: unknown): void {
    end ??= { error };
    answerRest();
  }

  function answerRest(): void {
    for (const next of asked.splice(0)) {
      const error = end?.error ?? null;
      // Thrown once, as a generator would; after that the iterator is only over.
      end = { error: null };
      if (error === null) next.resolve({ done: true, value: undefined });
      else next.reject(error);
    }
  }

  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next() {
      return new Promise((resolve, reject) => {
        if (arrived !== null) {
          const { event, taken } = arrived;
          arrived = null;
          resolve({ done: false, value: event });
          taken();
          return;
        }
        asked.push({ resolve, reject });
        if (end !== null) answerRest();
      });
    },
    return() {
      arrived = null;
      subscription.close();
      finish(null);
      return Promise.resolve({ done: true, value: undefined });
    },
  };
}

interface Asked<Event> {
  readonly resolve: (result: IteratorResult<Event, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

interface Arrived<Event> {
  readonly event: Event;
  readonly taken: () => void;
}
