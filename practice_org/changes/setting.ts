import type { Draft } from "./draft.ts";
import type { OrgContents } from "../objects/org_contents.ts";

/** A named change that a person would make in the Admin Console. */
export interface Change {
  /** As the command takes it: `mfa-off`. */
  readonly name: string;
  /** As the admin page's button has it: "Turn off MFA for the Admin Console". */
  readonly label: string;
  /** Throws `NotPossibleError` where the org has no such object, or is so already. */
  readonly make: (draft: Draft) => void;
}

/** What the admin page shows, and the changes that lead away from it and back. */
export interface Setting {
  readonly area: string;
  readonly label: string;
  /** As it is now, for people. May throw `NotPossibleError`. */
  readonly present: (contents: OrgContents) => string;
  readonly changes: readonly [weaken: Change, restore: Change];
}
