import { useEffect } from "preact/hooks";
import type { toAttention } from "../model/needs_you.ts";

const mark = "⚠ ";

function plainTitle(): string {
  const { title } = document;
  return title.startsWith(mark) ? title.slice(title.indexOf(" · ") + 3) : title;
}

/** Puts what needs somebody before the title, whatever page sets it, and into the icon, until nobody is signed in. */
export function useTabMark({ level, words }: ReturnType<typeof toAttention>): void {
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
