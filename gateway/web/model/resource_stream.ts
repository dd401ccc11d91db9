import type { ScanEvents } from "../../../shared/scan_events.ts";
import { subscribe, type SubscribeOptions } from "../../../shared/client/subscribe.ts";
import type { MonitorEvents } from "../../../shared/schemas/monitor.ts";
import type { TenantEvents } from "../../../shared/schemas/tenant_events.ts";
import type { Api } from "./api.ts";
import { isOnlyTab, onOtherTab } from "./tabs.ts";

type ResourceEvents = ScanEvents & MonitorEvents & TenantEvents;
type Options = SubscribeOptions<ResourceEvents>;

export interface ResourceStreamOptions {
  readonly signal: AbortSignal;
  readonly kind: "scan" | "monitor";
  readonly id: string;
  /** The address of the resource, relative to the page. */
  readonly path: string;
  /** What the stream begins with; undefined: the resource has ended, or is not in the tenant's snapshot. */
  readonly onSnapshot: (data: object | undefined) => void;
  readonly refetch: NonNullable<Options["refetch"]>;
  readonly onEvent: (type: keyof ResourceEvents, data: object) => void | Promise<void>;
  /** The same of the tenant's stream, which does not carry findings. */
  readonly onTenantEvent: (type: keyof ResourceEvents, data: object) => void;
  readonly onStateChange: NonNullable<Options["onStateChange"]>;
  /** By what `refetch` has read. */
  readonly isOver: () => boolean;
  /** `hasEvent`: its terminal event came, so that `refetch` was not called after the end. */
  readonly onEnded: (hasEvent: boolean) => void;
}

/**
 * Follows one scan or monitor: on a stream of its own, which has every event, while this is the browser's only tab; from
 * then on by what the stream of the tenant says of it, which all tabs share, so that no number of tabs takes a second
 * connection. Returns what cuts a pause short.
 */
export function followResource(api: Api, options: ResourceStreamOptions): () => void {
  const { signal, kind, id } = options;
  let retryNow = (): void => undefined;
  let own = new AbortController();
  let isShared = false;

  function start(): void {
    own = new AbortController();
    const { signal: ownSignal } = own;
    const subscription = subscribe<ResourceEvents>(
      new URL(isShared ? "api/v1/event-stream" : `${options.path}/event-stream`, document.baseURI),
      {
        signal: AbortSignal.any([signal, ownSignal]),
        fetch: api.fetchStream,
        share: isShared && (api.identity ?? false),
        onSnapshot: (events) => options.onSnapshot(events.find(isOfResource)?.data),
        async refetch(signal) {
          await options.refetch(signal);
          if (isShared && options.isOver()) {
            own.abort();
            options.onEnded(false);
          }
        },
        onEvent(event) {
          if (!isShared) return options.onEvent(event.type, event.data);
          if (isOfResource(event)) options.onTenantEvent(event.type, event.data);
          return undefined;
        },
        isEnd: (event) => event.type === `${kind}.end` && (!isShared || isOfResource(event)),
        // A stream that was given up for the other one has nothing more to say.
        onStateChange: (state, detail) => (ownSignal.aborted ? undefined : options.onStateChange(state, detail)),
      },
    );
    retryNow = () => subscription.retryNow();
    void subscription.finished.then((end) => {
      if (end.state === "ended") options.onEnded(end.event !== null);
    });
  }

  function isOfResource({ data }: { readonly data: object }): boolean {
    return Reflect.get(data, `${kind}_id`) === id;
  }

  async function run(): Promise<void> {
    isShared = api.identity !== null && !(await isOnlyTab());
    if (signal.aborted) return;
    start();
    onOtherTab(() => {
      if (isShared || own.signal.aborted) return;
      own.abort();
      isShared = true;
      start();
    }, signal);
  }

  void run();
  return () => retryNow();
}
