import { randomInt } from "node:crypto";
import { clickApp, isAppClick, type ServiceAppState } from "../auth/service_app.ts";
import { adminOf, admins } from "../log/admins.ts";
import { signInEvents, type EventWriter } from "../log/event_writer.ts";
import type { LogEvent } from "../log/log_events.ts";
import { changes, signInName, type OrgState } from "./org_changes.ts";

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
  events: EventWriter,
  service: { readonly app: ServiceAppState; readonly scopes: readonly string[] },
): AdminConsole {
  const change = (name: string, login?: string, key?: string): readonly LogEvent[] => {
    if (isAppClick(name)) {
      clickApp(service.app, name, { key: key ?? null, scopes: service.scopes });
      return [];
    }
    const actor = adminOf(login);
    if (name === signInName) return events.write(signInEvents(actor), { actor, requestUri: "/api/v1/authn" });
    return events.write(state.change(name), { actor });
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
