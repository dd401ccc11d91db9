import { createElement, type Component, type FunctionComponent } from "preact";
import { useCallback, useEffect, useLayoutEffect, useState } from "preact/hooks";
import { currentZone, onZoneChange, type Zone } from "../model/format.ts";
import { parseRulesView, toAddress, type RulesView } from "../model/route.ts";

/**
 * A store that lives as long as the component, and a number that changes with each frame in which the component shows
 * what is new in it. `getPauseMs` says how long to wait after such a frame: while changes are many and costly, a pause
 * leaves time for input.
 */
export function useStore<Store extends { close(): void }>(
  create: (onChange: () => void) => Store,
  getPauseMs: (store: Store) => number = () => 0,
): readonly [store: Store, frame: number] {
  const [frame, setFrame] = useState(0);
  const [{ store, scheduler }] = useState(() => {
    const scheduler = createFrameScheduler(() => {
      setFrame((count) => count + 1);
      return getPauseMs(store);
    });
    const store = create(() => scheduler.request());
    return { store, scheduler };
  });
  // A plain effect may never run for a component that is removed at once, and then neither would its cleanup.
  useLayoutEffect(
    () => () => {
      scheduler.stop();
      store.close();
    },
    [store, scheduler],
  );
  return [store, frame];
}

/**
 * Runs `render` once in the next frame, however often it is requested. A hidden tab has no frames: there it runs once a
 * second, so that the title still says how far the scan is.
 */
function createFrameScheduler(render: () => number): { request(): void; stop(): void } {
  let frame: number | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let notBeforeMs = 0;
  let isStopped = false;

  function clear(): void {
    if (frame !== null) cancelAnimationFrame(frame);
    if (timer !== null) clearTimeout(timer);
    frame = null;
    timer = null;
  }

  function run(): void {
    clear();
    notBeforeMs = performance.now() + render();
  }

  return {
    request() {
      if (isStopped || frame !== null || timer !== null) return;
      const pauseMs = document.hidden ? 1000 : notBeforeMs - performance.now();
      if (pauseMs > 0) timer = setTimeout(run, pauseMs);
      else frame = requestAnimationFrame(run);
    },
    stop() {
      isStopped = true;
      clear();
    },
  };
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
