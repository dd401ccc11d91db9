import { createElement, type Component, type FunctionComponent } from "preact";
import { useCallback, useEffect, useLayoutEffect, useState } from "preact/hooks";
import { toProblem } from "../model/connection.ts";
import { currentZone, onZoneChange, type Zone } from "../model/format.ts";
import { parseRulesView, toAddress, type RulesView } from "../model/route.ts";

/** A value that is replaced, never changed. */
export interface Store<Snapshot> {
  readonly current: Snapshot;
  close(): void;
}

/** While changes are many, this leaves time for input. */
const pauseMs = 100;

/** The newest snapshot of a store that lives as long as the component; at most one in each pause. */
export function useStore<Snapshot extends object>(create: (onChange: () => void) => Store<Snapshot>): Snapshot {
  const [snapshot, setSnapshot] = useState<Snapshot | null>(null);
  const [{ store, close }] = useState(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let notBeforeMs = 0;
    const show = () => {
      timer = undefined;
      notBeforeMs = performance.now() + pauseMs;
      setSnapshot(store.current);
    };
    const store = create(() => {
      timer ??= setTimeout(show, notBeforeMs - performance.now());
    });
    const close = () => {
      clearTimeout(timer);
      store.close();
    };
    return { store, close };
  });
  // A plain effect may never run for a component that is removed at once, and then neither would its cleanup.
  useLayoutEffect(() => close, [close]);
  return snapshot ?? store.current;
}

/** Renders again each second, for ages. */
export function useNow(): void {
  const [, setTick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTick((tick) => tick + 1), 1000);
    return () => clearInterval(timer);
  }, []);
}

/** Renders again when times are to be shown in another zone. */
export function useZone(): Zone {
  const [zone, update] = useState(currentZone);
  useEffect(() => onZoneChange(() => update(currentZone())), []);
  return zone;
}

/** Filters of an organization's view, kept in the address: a link shows the same, and reloading keeps it. */
export function useRulesView() {
  const [view, setView] = useState(() => parseRulesView(location.hash));
  useEffect(() => {
    const read = () => setView(parseRulesView(location.hash));
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  const change = useCallback((changed: Partial<RulesView>) => {
    setView((before) => {
      const next = { ...before, ...changed };
      history.replaceState(null, "", toAddress(location.hash, next));
      return next;
    });
  }, []);
  return [view, change] as const;
}

export interface List<Item> {
  /** Null: not read yet. */
  readonly items: readonly Item[] | null;
  /** Why it could not be read. */
  readonly problem: string | null;
  /** After something was changed. */
  readonly reload: () => void;
}

/** A list that is read when the component appears, and when `read` is another function. */
export function useList<Item>(read: (signal: AbortSignal) => Promise<readonly Item[]>): List<Item> {
  const [state, setState] = useState<Omit<List<Item>, "reload">>({ items: null, problem: null });
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

/** `null` leaves the title of the document as it is. */
export function useTitle(title: string | null): void {
  // With what is shown, and no later: signing out leaves no name of an organization behind.
  useLayoutEffect(() => {
    if (title !== null) document.title = `${title} · scanstream`;
  }, [title]);
}

/** A component that is rendered only when one of its properties is another one: for the rows of long lists. */
export function memo<Props extends object>(component: FunctionComponent<Props>): FunctionComponent<Props> {
  function Memo(this: Component<Props>, props: Props) {
    this.shouldComponentUpdate = (next) =>
      Object.entries(next).some(([name, value]) => Reflect.get(this.props, name) !== value);
    return createElement(component, props);
  }
  return Memo as FunctionComponent<Props>;
}
