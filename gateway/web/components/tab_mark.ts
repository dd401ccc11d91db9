import { useEffect } from "preact/hooks";
import { toAttention, type Attention } from "../model/attention.ts";
import { toOverview } from "../model/overview.ts";
import type { Session } from "../model/session.ts";
import type { TenantFollower } from "../model/tenant_follower.ts";
import { useNow } from "./hooks.ts";

/** Calls a person by the title and the icon of the tab; shows nothing itself. */
export function TabMark({ session, tenant }: { readonly session: Session; readonly tenant: TenantFollower }): null {
  useNow();
  const rows = toOverview(tenant, session.api.nowMs()) ?? [];
  useTabMark(toAttention(rows, tenant.connection));
  return null;
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
