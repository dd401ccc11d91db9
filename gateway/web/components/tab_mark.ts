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
    const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    const plain = link?.href ?? "";
    const show = (words: string, icon: string) => {
      mark = words === "" ? "" : `⚠ ${words} · `;
      showTitle();
      if (link !== null) link.href = icon;
    };
    show(words, link?.dataset[level] ?? plain);
    return () => show("", plain);
  }, [words, level]);
}
