/**
 * The port that events travel through. Adapters live in `brokers/`; one contract suite runs against each.
 *
 * A message is one line of text. Nothing is stored: a subscriber that is not there when a message is published never gets it.
 */
export interface MessagePublisher {
  /** Resolves when the broker has taken the message; rejects with `AppError("unavailable")` when it has not. */
  publish(channel: string, message: string): Promise<void>;
}

export interface Subscriber {
  /**
   * Resolves once the broker has confirmed the channel: anything that is published after that is handed to `onMessage`,
   * in the order of each publisher, until `onLost` is called or `signal` aborts.
   *
   * `onLost` is called at most once, at the first moment at which a message may have been missed; the subscription is
   * over then and the caller starts a new one. After `signal` aborts no handler is called. Rejects with
   * `AppError("unavailable")` when the broker cannot be reached, and with the signal's reason when it aborts first.
   */
  subscribe(channel: string, handlers: SubscriptionHandlers, signal: AbortSignal): Promise<void>;
}

export interface SubscriptionHandlers {
  onMessage(message: string): void;
  onLost(reason: LostReason): void;
}

/** `ended`: the broker closed politely; `cut`: the connection broke; `silent`: nothing arrived for too long; `garbage`: unreadable bytes. */
export type LostReason = "ended" | "cut" | "silent" | "garbage";

export interface Broker extends MessagePublisher, Subscriber {
  /** Resolves when the broker answers now; rejects with `AppError("unavailable")`. */
  ping(): Promise<void>;
  /** Releases every connection and ends open subscriptions. */
  close(): Promise<void>;
}
