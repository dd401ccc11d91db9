import { updateConsoleSettings } from "./app_edits.ts";
import { fieldOf, withField, type Draft, type ListName, type Status } from "./draft.ts";
import { findResource, setStatus, update } from "./object_edits.ts";
import { firstRule, setPolicyStatus, setRuleStatus, updatePolicy, updateRule } from "./policy_edits.ts";
import type { OrgContents, PolicyWithRules, Resource } from "../objects/org_contents.ts";
import type { JsonObject } from "../../shared/json.ts";

/** A named change that a person would make in the Admin Console. */
export interface Change {
  /** As the command takes it: `mfa-off`. */
  readonly name: string;
  /** As the admin page's button has it: "Turn off MFA for the Admin Console". */
  readonly label: string;
  /** Throws `NotPossibleError` where the org has no such object, or is so already. */
  readonly make: (draft: Draft) => void;
}

/** Setting that the admin page shows, and the changes that lead away from it and back. */
export interface Setting {
  readonly area: string;
  readonly label: string;
  /** As it is now, for people. May throw `NotPossibleError`. */
  readonly present: (contents: OrgContents) => string;
  readonly changes: readonly [weaken: Change, restore: Change];
}

/** A change's name, its label, and what it is given. */
export type Named<Value> = readonly [name: string, label: string, value: Value];

/** A setting whose two changes differ in one value. */
export function setting<Value>(
  [area, label]: readonly [area: string, label: string],
  present: Setting["present"],
  set: (draft: Draft, value: Value) => void,
  ...changes: readonly [weaken: Named<Value>, restore: Named<Value>]
): Setting {
  const toChange = ([name, text, value]: Named<Value>): Change => ({
    name,
    label: text,
    make: (draft) => set(draft, value),
  });
  return { area, label, present, changes: [toChange(changes[0]), toChange(changes[1])] };
}

/** An object of the org, as settings find, show and edit it. */
interface Target {
  find(contents: OrgContents): { readonly item: JsonObject; readonly name: string };
  edit(draft: Draft, edit: <Item extends JsonObject>(item: Item) => Item): void;
}

/** One that can be switched off. */
interface SwitchedTarget extends Target {
  setStatus(draft: Draft, status: Status): void;
}

/** A setting of one field of an object. `show` gives the value for people, and the object's name where that is shown, too. */
export function fieldSetting(
  about: readonly [area: string, label: string],
  target: Target,
  path: readonly string[],
  show: (value: unknown, name: string) => string,
  ...changes: readonly [weaken: Named<unknown>, restore: Named<unknown>]
): Setting {
  const present = (contents: OrgContents) => {
    const { item, name } = target.find(contents);
    return show(fieldOf(item, path), name);
  };
  return setting<unknown>(
    about,
    present,
    (draft, value) => target.edit(draft, (item) => withField(item, path, value)),
    ...changes,
  );
}

/** A setting that switches an object on and off. */
export function statusSetting(
  about: readonly [area: string, label: string],
  target: SwitchedTarget,
  off: readonly [name: string, label: string],
  on: readonly [name: string, label: string],
): Setting {
  const present = (contents: OrgContents) => {
    const { item, name } = target.find(contents);
    return `${name}: ${String(item["status"])}`;
  };
  const set = (draft: Draft, status: Status) => target.setStatus(draft, status);
  return setting<Status>(about, present, set, [...off, "INACTIVE"], [...on, "ACTIVE"]);
}

export function inList(
  list: Exclude<ListName, "apiTokens">,
  what: string,
  isWanted: (item: Resource) => boolean = () => true,
): SwitchedTarget {
  const find = (contents: OrgContents) => findResource(contents, list, what, isWanted);
  return {
    find: (contents) => ({ item: find(contents), name: String(find(contents)["name"]) }),
    edit: (draft, edit) => update(draft, list, find(draft.contents), edit),
    setStatus: (draft, status) => setStatus(draft, list, find(draft.contents), status),
  };
}

export function thePolicy(find: (contents: OrgContents) => PolicyWithRules): SwitchedTarget {
  return {
    find: (contents) => ({ item: find(contents).policy, name: find(contents).policy.name }),
    edit: (draft, edit) => updatePolicy(draft, find(draft.contents), edit),
    setStatus: (draft, status) => setPolicyStatus(draft, find(draft.contents), status),
  };
}

/** Default: the policy's first rule that lets people in. */
export function theRule(
  find: (contents: OrgContents) => PolicyWithRules,
  ruleOf: (parent: PolicyWithRules) => Resource = firstRule,
): SwitchedTarget {
  const both = (contents: OrgContents) => {
    const parent = find(contents);
    return { parent, rule: ruleOf(parent) };
  };
  return {
    find(contents) {
      const { parent, rule } = both(contents);
      return { item: rule, name: `${parent.policy.name}, ${String(rule["name"])}` };
    },
    edit(draft, edit) {
      const { parent, rule } = both(draft.contents);
      updateRule(draft, parent, rule, edit);
    },
    setStatus(draft, status) {
      const { parent, rule } = both(draft.contents);
      setRuleStatus(draft, parent, rule, status);
    },
  };
}

/** The settings of the Admin Console, which are logged as those of its app. */
export const adminConsole: Target = {
  find: ({ adminConsoleSettings }) => ({ item: adminConsoleSettings, name: "Admin Console" }),
  edit: updateConsoleSettings,
};
