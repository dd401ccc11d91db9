import type { ScanEvents } from "../../../shared/scan_events.ts";
import { subscribe, type SubscribeOptions } from "../../../shared/client/subscribe.ts";
import type { MonitorEvents } from "../../../shared/schemas/monitor.ts";
import type { TenantEvents } from "../../../shared/schemas/tenant_events.ts";
import type { Api } from "./api.ts";

type ResourceEvents = ScanEvents & MonitorEvents & Pick<TenantEvents, "scan.snapshot" | "monitor.snapshot">;
type Options = SubscribeOptions<ResourceEvents>;

export interface ResourceStreamOptions {
  readonly signal: AbortSignal;
  /** The address of the scan or monitor, relative to the page. */
  readonly path: string;
  /** What the stream begins with; undefined: the resource has ended. */
  readonly onSnapshot: (data: object | undefined) => void;
  readonly refetch: NonNullable<Options["refetch"]>;
  readonly onEvent: (type: keyof ResourceEvents, data: object) => void | Promise<void>;
  readonly onStateChange: NonNullable<Options["onStateChange"]>;
  /** `hasEvent`: its terminal event came, so that `refetch` was not called after the end. */
  readonly onEnded: (hasEvent: boolean) => void;
}

/** Follows one scan or monitor on its stream. Returns what cuts a pause short. */
export function followResource(api: Api, options: ResourceStreamOptions): () => void {
  const { signal, path, refetch, onStateChange } = options;
  const subscription = subscribe<ResourceEvents>(new URL(`${path}/event-stream`, document.baseURI), {
    signal,
    fetch: api.fetchStream,
    onSnapshot: ([first]) => options.onSnapshot(first?.data),
    refetch,
    onEvent: ({ type, data }) => options.onEvent(type, data),
    onStateChange,
  });
  void subscription.finished.then((end) => {
    if (end.state === "ended") options.onEnded(end.event !== null);
  });
  return () => subscription.retryNow();
}
