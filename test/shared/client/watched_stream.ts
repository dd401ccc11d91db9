import {
  subscribe,
  type StateDetail,
  type SubscribeOptions,
  type Subscription,
  type SubscriptionState,
} from "../../../shared/client/subscribe.ts";
import type { ScanEvents } from "../../../shared/schemas/scan.ts";
import { frame } from "../../support/scripted_server.ts";

export const scanId = "8d6f3f7e-0f0f-4c4c-9a9a-1b1b1b1b1b1b";
/** Pauses too short to be noticed. */
export const quick = { backoffMs: [1, 2], random: () => 0 } as const;

const endData = { scan_id: scanId, status: "completed", pass: 1, fail: 0, manual: 0 };
/** The comment may stand anywhere before the event that it names. */
export const end = `: terminal scan.end 1\n${frame("scan.end", endData)}`;

export function progress(checksDone: number): string {
  const more = { checks_total: 3, check: "a", status: "PASS" };
  return frame("scan.progress", { scan_id: scanId, checks_done: checksDone, ...more });
}

export interface Watched<Events extends object> {
  readonly subscription: Subscription<Events>;
  /** States, calls and events, in order. */
  readonly entries: readonly string[];
  readonly details: readonly (StateDetail & { readonly state: SubscriptionState })[];
  readonly finished: Subscription<Events>["finished"];
  /** The entries that are events. */
  events(): readonly string[];
  add(entry: string): void;
  close(): void;
  until(entry: string): Promise<void>;
}

/** Subscribes with short pauses and writes down what happens. */
export function watch<Events extends object = ScanEvents>(
  url: string,
  options: SubscribeOptions<Events> = {},
): Watched<Events> {
  const entries: string[] = [];
  const details: (StateDetail & { readonly state: SubscriptionState })[] = [];
  const waiting = new Map<string, () => void>();
  const add = (entry: string) => {
    entries.push(entry);
    waiting.get(entry)?.();
  };
  const { onSnapshot, refetch } = options;
  const subscription = subscribe<Events>(url, {
    ...quick,
    ...options,
    ...(onSnapshot !== undefined && {
      onSnapshot: (snapshot) => {
        add(`snapshot ${snapshot.map(({ data }) => (data as { readonly scan_id: string }).scan_id).join(",")}`);
        return onSnapshot(snapshot);
      },
    }),
    ...(refetch !== undefined && {
      refetch: (signal) => {
        add("refetch");
        return refetch(signal);
      },
    }),
    onEvent: (event) => {
      const { type, data } = event as { readonly type: string; readonly data: Readonly<Record<string, unknown>> };
      add(type === "scan.progress" ? `${type} ${String(data["checks_done"])}` : type);
      return options.onEvent?.(event);
    },
    onStateChange: (state, detail) => {
      details.push({ state, ...detail });
      const returned = options.onStateChange?.(state, detail);
      add(detail.error === null ? state : `${state} ${detail.error.code}`);
      return returned;
    },
  });
  return {
    subscription,
    entries,
    events: () => entries.filter((entry) => /^(scan|part)\./.test(entry)),
    details,
    add,
    finished: subscription.finished,
    close: () => subscription.close(),
    until: (entry: string) =>
      new Promise<void>((resolve) => {
        waiting.set(entry, resolve);
        if (entries.includes(entry)) resolve();
      }),
  };
}
