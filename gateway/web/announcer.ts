import { element } from "./dom.ts";

/** A polite live region. Says at most one thing in a while, and of many things only the last: a scan would talk without end. */
export function createAnnouncer(): { readonly element: HTMLElement; say(text: string): void; close(): void } {
  const pauseMs = 4000;
  const region = element("p", { class: "visually-hidden", attributes: { role: "status", "aria-live": "polite" } });
  let waiting: string | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;

  function speak(): void {
    timer = null;
    if (waiting === null || waiting === region.textContent) return;
    region.textContent = waiting;
    waiting = null;
    timer = setTimeout(speak, pauseMs);
  }

  return {
    element: region,
    say(text) {
      waiting = text;
      if (timer === null) speak();
    },
    close() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}
