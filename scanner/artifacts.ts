import type { ManualReason } from "../shared/report.ts";

export interface JsonObject {
  readonly [key: string]: unknown;
}

/** Why something could not be obtained; becomes the `reason` of every MANUAL that rests on it. */
export type MissingReason = Exclude<ManualReason, "not_applicable" | "needs_review">;

/** What was obtained about one thing, or why it was not. Failing to know is never an empty default. */
export type Evidence<Value> =
  | { readonly state: "obtained"; readonly value: Value }
  | {
      readonly state: "missing";
      readonly reason: MissingReason;
      /** One sentence: what was asked, what came back, and what to do about it. */
      readonly detail: string;
      /** What arrived before it failed (the pages of a list that broke off): enough for a FAIL, never for a PASS. */
      readonly partial: Value | null;
    };
