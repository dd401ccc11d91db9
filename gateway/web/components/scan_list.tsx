import { formatAgo, formatCount, formatOrg, formatTime } from "../model/format.ts";
import type { ListStore } from "../model/list_store.ts";
import type { Scan } from "../scan_wire.ts";
import { Message, MiniBar, MoreButton, ScanBadge } from "./basics.tsx";
import { memo } from "./hooks.ts";

/** `nowMs`: by the gateway's clock. */
export function ScanList({ store, nowMs }: { readonly store: ListStore<Scan>; readonly nowMs: number }) {
  const { items: scans, isLoaded, problem } = store;
  return (
    <nav class="scans" aria-labelledby="scans-title">
      <h2 id="scans-title">Newest scans</h2>
      <p class="problem tinted tone-manual" role="status">
        {problem}
      </p>
      {!isLoaded && <p class="note">The scans could not be read yet.</p>}
      {isLoaded && scans.length === 0 && (
        <Message
          level={3}
          title="No scans yet"
          text="Scans that report to this gateway appear here. Ask an admin for an API key (under Settings), then start a scan of your Okta org:"
          code={`SCANSTREAM_URL=${new URL(".", document.baseURI).href} SCANSTREAM_API_KEY=… scanstream scan`}
        />
      )}
      <ul class="scan-list">
        {scans.map((scan) => (
          <ScanRow
            key={scan.id}
            scan={scan}
            age={scan.createdAtMs === null ? null : formatAgo(scan.createdAtMs, nowMs)}
          />
        ))}
      </ul>
      <MoreButton list={store} />
    </nav>
  );
}

interface ScanRowProps {
  readonly scan: Scan;
  readonly age: string | null;
}

const ScanRow = memo(({ scan, age }: ScanRowProps) => (
  <li>
    <a class="scan-link stack" href={`#/scans/${scan.id}`}>
      <span class="row spread">
        <span class="strong one-line">{formatOrg(scan)}</span>
        <ScanBadge status={scan.status} />
      </span>
      <MiniBar counts={scan} />
      <span class="row spread fine">
        <span>{toCountText(scan)}</span>
        {scan.createdAtMs !== null && (
          <time dateTime={new Date(scan.createdAtMs).toISOString()} title={formatTime(scan.createdAtMs)}>
            {age}
          </time>
        )}
      </span>
    </a>
  </li>
));

function toCountText({ pass, fail, manual, checksDone, checksTotal, status }: Scan): string {
  if (status === "pending") return "Not started";
  if (status === "running") return `${formatCount(checksDone)} of ${formatCount(checksTotal)} checks`;
  return fail + manual === 0
    ? `${formatCount(pass)} rules passed`
    : `${formatCount(fail)} rules failed · ${formatCount(manual)} manual`;
}
