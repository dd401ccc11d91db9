import { useEffect } from "preact/hooks";
import { toAttention, type Attention } from "../model/attention.ts";
import { formatTime } from "../model/format.ts";
import { toOverview } from "../model/overview.ts";
import type { Session } from "../model/session.ts";
import type { TenantFollower } from "../model/tenant_follower.ts";
import { createWatch } from "../model/watch.ts";
import { useNow, useStore } from "./hooks.ts";

const shownAlarms = 3;

/** Calls a person by the title and the icon of the tab, and by notifications where they want them. */
export function useAttention({ session, tenant }: WatchedTenant) {
  const { api, caller } = session;
  useNow();
  const rows = toOverview(tenant, api.nowMs());
  const [watch] = useStore((onChange) =>
    createWatch(`${caller.id}.${caller.tenant?.id ?? ""}`, { nowMs: api.nowMs, changes: tenant.lastChanges }, onChange),
  );
  // As of these rows: an effect runs later, and by then the pulses may be known that they still lack.
  const isLive = tenant.connection.state === "live";
  useEffect(() => {
    if (rows !== null && isLive) watch.update(rows);
  });
  useTabMark(toAttention(rows ?? [], tenant.connection, watch.unexplained));
  return { rows, watch };
}

export interface WatchedTenant {
  readonly session: Session;
  readonly tenant: TenantFollower;
}

/** What happened since the person looked, on top of every page. */
export function AttentionBar(props: WatchedTenant) {
  const { watch } = useAttention(props);
  const { alarms } = watch;
  return (
    <aside class="attention notice row wrap" aria-label="Since you last looked" hidden={alarms.length === 0}>
      <strong>{`${alarms.length} since ${formatTime(watch.sinceMs)}`}</strong>
      <ul class="row wrap grow">
        {alarms.slice(0, shownAlarms).map(({ key, text, address }) => (
          <li key={key}>
            <a href={address}>{text}</a>
          </li>
        ))}
        {alarms.length > shownAlarms && <li>{`and ${alarms.length - shownAlarms} more`}</li>}
      </ul>
      {"Notification" in globalThis && Notification.permission !== "denied" && (
        <button
          type="button"
          class="button button-small"
          aria-pressed={watch.notifies}
          onClick={() => void watch.toggleNotifications()}
        >
          Notify me
        </button>
      )}
      <button
        type="button"
        class="button button-small"
        title="Acknowledges for you, in this browser only"
        onClick={() => watch.acknowledge()}
      >
        Acknowledge
      </button>
    </aside>
  );
}

const mark = "⚠ ";

function plainTitle(): string {
  const { title } = document;
  return title.startsWith(mark) ? title.slice(title.indexOf(" · ") + 3) : title;
}

/** Puts the worst state before the title, whatever page sets it, and into the icon, until nobody is signed in. */
function useTabMark({ level, words }: Attention): void {
  useEffect(() => {
    const prefix = words === "" ? "" : `${mark}${words} · `;
    const apply = () => {
      const title = prefix + plainTitle();
      if (document.title !== title) document.title = title;
    };
    apply();
    const observer = new MutationObserver(apply);
    observer.observe(document.head, { subtree: true, childList: true, characterData: true });
    return () => {
      observer.disconnect();
      document.title = plainTitle();
    };
  }, [words]);
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (link === null) return undefined;
    const plain = link.href;
    link.href = link.dataset[level] ?? plain;
    return () => {
      link.href = plain;
    };
  }, [level]);
}
