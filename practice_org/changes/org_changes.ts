import { NotPossibleError } from "../not_possible_error.ts";
import type { Draft } from "./edit.ts";
import { settings, type Change } from "./settings.ts";
import type { OrgContents, Site } from "../contents/org_contents.ts";

/** Every change that can be named; a sign-in, which changes nothing, is named `sign-in` next to them. */
export const changes: readonly Change[] = settings.flatMap(({ changes: pair }) => pair);

export const signInName = "sign-in";

/** The org's contents, which people change while it runs. */
export interface OrgState {
  contents(): OrgContents;
  /** Makes a change, and gives the events that it leaves. Throws `RangeError` for an unknown name, `NotPossibleError`. */
  change(name: string): Draft["events"];
  /** Makes an edit that has no name, as a client of the API does; gives its result and the events that it leaves. */
  edit<Result>(make: (draft: Draft) => Result): { readonly result: Result; readonly events: Draft["events"] };
  isPossible(change: Change): boolean;
}

export function createOrgState(initial: OrgContents, { site, clock }: { site: Site; clock: () => number }): OrgState {
  let contents = initial;
  const newDraft = (): Draft => ({ contents, initial, site, nowMs: clock(), events: [] });
  const attempt = ({ make }: Change): Draft => {
    const draft = newDraft();
    make(draft);
    return draft;
  };
  return {
    contents: () => contents,
    change(name) {
      const wanted = changes.find((change) => change.name === name);
      if (wanted === undefined) {
        throw new RangeError(
          `Unknown change ${JSON.stringify(name)}: run \`scanstream practice-org change list\` for the names`,
        );
      }
      const draft = attempt(wanted);
      ({ contents } = draft);
      return draft.events;
    },
    edit(make) {
      const draft = newDraft();
      const result = make(draft);
      ({ contents } = draft);
      return { result, events: draft.events };
    },
    isPossible(change) {
      try {
        attempt(change);
        return true;
      } catch (error) {
        if (error instanceof NotPossibleError) return false;
        throw error;
      }
    },
  };
}
