import type { Tally } from "./tally.ts";

/** Which of the events 1, 2, 3, … one stream has received. */
export interface Sequence {
  /** The stream was opened after this event: what comes later must arrive. */
  open(last: number): void;
  receive(number: number): void;
  hasReceived(last: number): boolean;
  /** It is closed by us, and this was the last event. */
  close(last: number): void;
}

/** Counts what is lost while the stream is open, and what is received twice. */
export function createSequence(tally: Pick<Tally, "lost" | "repeated">): Sequence {
  /** The least that has not been received; null before the first opening. */
  let next: number | null = null;
  /** Events that were under way when the stream was opened may still come, or not. */
  let openedAfter = 0;
  return {
    open(last) {
      openedAfter = last;
      next ??= last + 1;
    },
    receive(number) {
      if (next === null || (number < next && number > openedAfter)) {
        tally.repeated();
        return;
      }
      const lost = Math.max(0, number - Math.max(next, openedAfter + 1));
      if (lost > 0) tally.lost(lost);
      next = Math.max(next, number + 1);
    },
    hasReceived: (last) => next !== null && next > last,
    close(last) {
      if (next === null) return;
      const lost = Math.max(0, last - Math.max(next - 1, openedAfter));
      if (lost > 0) tally.lost(lost);
    },
  };
}
