import { randomInt } from "node:crypto";
import { clickApp, isAppClick, type ServiceAppState } from "../auth/service_app.ts";
import { adminOf, admins } from "../log/admins.ts";
import { signInEvents, type LogEvent, type SystemLog } from "../log/system_log.ts";
import { NotPossibleError } from "../not_possible_error.ts";
import type { Draft } from "./edit.ts";
import { settings } from "./settings.ts";
import type { Change } from "./setting_kinds.ts";
import type { OrgContents, Site } from "../contents/org_contents.ts";

/** Every change that can be named; a sign-in, which changes nothing, is named `sign-in` next to them. */
export const changes: readonly Change[] = settings.flatMap(({ changes: pair }) => pair);

export const signInName = "sign-in";

export function findChange(name: string): Change | undefined {
  return changes.find((change) => change.name === name);
}

export function unknownChange(name: string): string {
  return `Unknown change ${JSON.stringify(name)}: run \`scanstream practice-org change list\` for the names`;
}

/** The org's contents, which people change while it runs. */
export interface OrgState {
  contents(): OrgContents;
  /** Makes a change, and gives the events that it leaves. Throws `RangeError` for an unknown name, `NotPossibleError`. */
  change(name: string): Draft["events"];
  /** Makes an edit that has no name, as a client of the API does; gives its result and the events that it leaves. */
  edit<Result>(make: (draft: Draft) => Result): { readonly result: Result; readonly events: Draft["events"] };
  isPossible(change: Change): boolean;
}

export function createOrgState(
  initial: OrgContents,
  { site, clock, ...present }: { site: Site; clock: () => number; contents?: OrgContents },
): OrgState {
  let { contents = initial } = present;
  const newDraft = (): Draft => ({ contents, initial, site, nowMs: clock(), events: [] });
  const attempt = ({ make }: Change): Draft => {
    const draft = newDraft();
    make(draft);
    return draft;
  };
  return {
    contents: () => contents,
    change(name) {
      const wanted = findChange(name);
      if (wanted === undefined) throw new RangeError(unknownChange(name));
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

/** Actions of a person in the Admin Console: the org changes, and the System Log says who did what. */
export interface AdminConsole {
  /**
   * Makes a named change, or signs a person in where the name is `sign-in`; gives the events that the System Log gets.
   * A click on the service app's page has a name, too; `key` is the public key for `key-saved`. Throws `RangeError` for an unknown name or login, `NotPossibleError` where there is nothing to change.
   */
  change(name: string, login?: string, key?: string): readonly LogEvent[];
  /** Makes one of the changes that are possible now, and gives its name. `random`: from 0 to below 1. */
  changeAtRandom(random?: () => number): string;
}

export function createAdminConsole(
  state: OrgState,
  log: Pick<SystemLog, "write">,
  service: { readonly app: ServiceAppState; readonly scopes: readonly string[] },
): AdminConsole {
  const change = (name: string, login?: string, key?: string): readonly LogEvent[] => {
    if (isAppClick(name)) {
      clickApp(service.app, name, { key: key ?? null, scopes: service.scopes });
      return [];
    }
    const actor = adminOf(login);
    if (name === signInName) return log.write(signInEvents(actor), { actor, requestUri: "/api/v1/authn" });
    return log.write(state.change(name), { actor });
  };
  return {
    change,
    changeAtRandom(random = () => randomInt(2 ** 32) / 2 ** 32) {
      const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)];
      const chosen = pick(changes.filter((item) => state.isPossible(item)));
      if (chosen === undefined) throw new RangeError("Cannot change this org: it has nothing that a change is about");
      change(chosen.name, pick(admins)?.alternateId);
      return chosen.name;
    },
  };
}
