import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { toProblem } from "../model/connection.ts";
import type { toAttention } from "../model/needs_you.ts";
import { parseRulesView, toAddress, type RulesView } from "../model/route.ts";

/** A value that is replaced, never changed. */
export interface Store<Snapshot> {
  readonly current: Snapshot;
  close(): void;
}

/** While changes are many, this leaves time for input. */
const pauseMs = 100;

/** The newest snapshot of a store that lives as long as the component, or until it shows something else; at most one in each pause. */
export function useStore<Snapshot extends object>(
  create: (onChange: () => void) => Store<Snapshot>,
  target: object = {},
): Snapshot {
  const key = Object.values(target).join(" ");
  const [shown, setShown] = useState<{ readonly of: Store<Snapshot>; readonly snapshot: Snapshot } | null>(null);
  const { store, close } = useMemo(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let notBeforeMs = 0;
    const show = () => {
      timer = undefined;
      notBeforeMs = performance.now() + pauseMs;
      setShown({ of: store, snapshot: store.current });
    };
    const store = create(() => {
      timer ??= setTimeout(show, notBeforeMs - performance.now());
    });
    const close = () => {
      clearTimeout(timer);
      store.close();
    };
    return { store, close };
    // oxlint-disable-next-line react/exhaustive-deps -- `create` is another function each time; the key says what it opens
  }, [key]);
  // A plain effect may never run for a component that is removed at once, and then neither would its cleanup.
  useLayoutEffect(() => close, [close]);
  return shown?.of === store ? shown.snapshot : store.current;
}

/** Renders again at this interval, for ages. */
export function useNow(everyMs: number): void {
  const [, setTick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTick((tick) => tick + 1), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}

/** Filters of an organization's view. The address alone keeps them: a link shows the same, and so do a reload and Back. */
export function useRulesView() {
  const [, setRound] = useState(0);
  const change = (changed: Partial<RulesView>) => {
    const address = toAddress(location.hash, { ...parseRulesView(location.hash), ...changed });
    // Back undoes a choice, and not each letter.
    if ("text" in changed) history.replaceState(null, "", address);
    else if (address !== location.hash) history.pushState(null, "", address);
    setRound((round) => round + 1);
  };
  return [parseRulesView(location.hash), change] as const;
}

/** A list that is read when the component appears, and when `read` is another function: null until then, or with the problem. */
export function useList<Item>(read: (signal: AbortSignal) => Promise<readonly Item[]>) {
  const [state, setState] = useState({ items: null as readonly Item[] | null, problem: null as string | null });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const closing = new AbortController();
    const set = (next: typeof state) => !closing.signal.aborted && setState(next);
    read(closing.signal).then(
      (items) => set({ items, problem: null }),
      (error: unknown) => set({ items: null, problem: toProblem(error) }),
    );
    return () => closing.abort();
  }, [read, round]);
  return { ...state, reload: () => setRound((count) => count + 1) };
}

/** Aborts when the component is gone. */
export function useLifetime(): AbortSignal {
  const [closing] = useState(() => new AbortController());
  useEffect(() => () => closing.abort(), [closing]);
  return closing.signal;
}

/** Runs a person's actions one at a time, with the outcome of the last. */
export function useAction() {
  const [state, setState] = useState({ isBusy: false, done: "", problem: null as string | null });
  const signal = useLifetime();
  /** `what` follows "Could not"; `work` may resolve with words for what was done. True: it was. */
  async function run(what: string, work: (signal: AbortSignal) => Promise<string | void>): Promise<boolean> {
    setState({ isBusy: true, done: "", problem: null });
    try {
      const done = (await work(signal)) ?? "";
      setState({ isBusy: false, done, problem: null });
      return true;
    } catch (error) {
      if (!signal.aborted) setState({ isBusy: false, done: "", problem: `Could not ${what}: ${toProblem(error)}` });
      return false;
    }
  }
  return { ...state, run };
}

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

/** Shows in the title and the icon of the tab what needs attention, on every page, until the person signs out. */
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
