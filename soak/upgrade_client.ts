import { subscribe } from "../shared/client/subscribe.ts";

/**
 * What all clients have seen, by the numbers 1, 2, 3, … that the producer stores before it publishes them. A client knows a number
 * by its event, or by a snapshot that was read after it was stored.
 */
export interface UpgradeTally {
  /** Numbers that clients learned by an event, and by a snapshot. */
  byEvent: number;
  bySnapshot: number;
  /** Numbers that a live stream left out: its client believed a stale state. */
  missed: number;
  repeated: number;
  opened: number;
  /** How streams ended, by the gateway's reason or the failure's code. */
  readonly ended: Map<string, number>;
  /** How long clients were without a stream. */
  readonly gapsMs: number[];
}

export function createUpgradeTally(): UpgradeTally {
  return { byEvent: 0, bySnapshot: 0, missed: 0, repeated: 0, opened: 0, ended: new Map(), gapsMs: [] };
}

export interface UpgradeClient {
  /** The newest number that it knows. */
  readonly known: number;
  readonly isLive: boolean;
  close(): Promise<unknown>;
}

interface UpgradeClientOptions {
  readonly url: URL;
  readonly apiKey: string;
  readonly tally: UpgradeTally;
}

interface Events {
  readonly "scan.snapshot": { readonly checks_done: number };
  readonly "scan.delta": { readonly number: number };
}

/** One client of the published library, as an application uses it. */
export function startUpgradeClient({ url, apiKey, tally }: UpgradeClientOptions): UpgradeClient {
  let known = 0;
  let isLive = false;
  let hasSnapshot = false;
  let lostMs: number | null = null;

  const subscription = subscribe<Events>(url, {
    apiKey,
    onOpen() {
      tally.opened += 1;
      hasSnapshot = false;
    },
    onSnapshot([scan]) {
      const stored = scan?.data.checks_done ?? 0;
      tally.bySnapshot += Math.max(0, stored - known);
      known = Math.max(known, stored);
      hasSnapshot = true;
    },
    onEvent({ type, data }) {
      if (type !== "scan.delta") return;
      const { number } = data;
      if (number <= known) {
        // Stored before the snapshot was read, and published after it.
        if (!hasSnapshot) tally.repeated += 1;
        return;
      }
      tally.missed += number - known - 1;
      tally.byEvent += 1;
      known = number;
    },
    onStateChange(state, { error }) {
      const wasLive = isLive;
      isLive = state === "live";
      if (isLive && lostMs !== null) {
        tally.gapsMs.push(performance.now() - lostMs);
        lostMs = null;
      }
      if (wasLive && !isLive && error !== null) lostMs = performance.now();
      if (wasLive && error !== null) {
        const reason = error.code === "closed" ? `closed: ${error.detail ?? "without a reason"}` : error.code;
        tally.ended.set(reason, (tally.ended.get(reason) ?? 0) + 1);
      }
    },
  });

  return {
    get known() {
      return known;
    },
    get isLive() {
      return isLive;
    },
    close() {
      subscription.close();
      return subscription.finished;
    },
  };
}
