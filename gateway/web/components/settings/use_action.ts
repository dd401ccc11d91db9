import { useEffect, useRef, useState } from "preact/hooks";
import { toProblem } from "../../model/connection.ts";

/** One change at a time, with what became of it. */
export interface Action {
  readonly isBusy: boolean;
  /** What was done, in words. */
  readonly done: string | null;
  /** Why it was not. */
  readonly problem: string | null;
  /** `what` follows "Could not". True: it was done. */
  run(what: string, work: (signal: AbortSignal) => Promise<string>): Promise<boolean>;
}

export function useAction(): Action {
  const [state, setState] = useState<Omit<Action, "run">>({ isBusy: false, done: null, problem: null });
  const closing = useRef(new AbortController());
  useEffect(() => {
    const current = new AbortController();
    closing.current = current;
    return () => current.abort();
  }, []);

  return {
    ...state,
    async run(what, work) {
      const { signal } = closing.current;
      setState({ isBusy: true, done: null, problem: null });
      try {
        const done = await work(signal);
        setState({ isBusy: false, done, problem: null });
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        setState({ isBusy: false, done: null, problem: `Could not ${what}: ${toProblem(error)}` });
        return false;
      }
    },
  };
}
