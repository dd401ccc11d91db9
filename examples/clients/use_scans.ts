import { useEffect, useState } from "react";
import type { ScanResource, TenantEvents } from "scanstream/events";
import { subscribe, type SubscriptionState } from "scanstream/subscribe";

type Scans = ReadonlyMap<string, ScanResource>;

/** The tenant's scans that have not ended, live on one connection, and how it is connected. */
export function useScans(url: string, getAccessToken: () => Promise<string>) {
  const [scans, setScans] = useState<Scans>(new Map());
  const [state, setState] = useState<SubscriptionState>("connecting");
  useEffect(() => {
    const put = (scan: ScanResource) => setScans((known) => new Map(known).set(scan.id, scan));
    const remove = (id: string) => setScans((known) => new Map([...known].filter(([key]) => key !== id)));
    const subscription = subscribe<TenantEvents>(url, {
      getAccessToken,
      onSnapshot(snapshot) {
        setScans(new Map());
        for (const event of snapshot) if (event.type === "scan.snapshot") put(event.data);
      },
      onEvent(event) {
        if (event.type === "scan.created" || event.type === "scan.updated") put(event.data);
        if (event.type === "scan.end") remove(event.data.scan_id);
      },
      onStateChange: (next) => setState(next),
    });
    return () => subscription.close();
  }, [url, getAccessToken]);
  return { scans: [...scans.values()], state };
}
