import { useEffect, useLayoutEffect } from "preact/hooks";
import type { toAttention } from "../model/needs_you.ts";

let title = "scanstream";
let mark = "";

function showTitle(): void {
  document.title = mark + title;
}

export function useTitle(text: string): void {
  // With what is shown, and no later: signing out leaves no name of an organization behind.
  useLayoutEffect(() => {
    title = `${text} · scanstream`;
    showTitle();
  }, [text]);
}

/** Puts what needs somebody before the title, whatever page sets it, and into the icon, until nobody is signed in. */
export function useTabMark({ level, words }: ReturnType<typeof toAttention>): void {
  useEffect(() => {
    mark = words === "" ? "" : `⚠ ${words} · `;
    showTitle();
    return () => {
      mark = "";
      showTitle();
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
