import { verificationMethods } from "../contents/new_objects.ts";
import { fieldOf, setField, type Draft, type Found } from "./edit.ts";
import { findPolicy, firstRule, policyPlace } from "./places.ts";
import { setSuperAdmin } from "./administrators.ts";
import type { Group, OrgContents, User } from "../contents/org_contents.ts";
import type { JsonObject } from "../../shared/json.ts";
import { listText, onOrOff, sessionPolicy } from "./setting_edits.ts";

/** A named change that a person would make in the Admin Console. */
export interface Change {
  /** As the command takes it: `mfa-off`. */
  readonly name: string;
  /** As the admin page's button has it: "Turn off MFA for the Admin Console". */
  readonly label: string;
  /** Throws `NotPossibleError` where the org has no such object, or is so already. */
  readonly make: (draft: Draft) => unknown;
}

/** Setting that the admin page shows, and the changes that lead away from it and back. */
export interface Setting {
  readonly area: string;
  readonly label: string;
  /** As it is now, for people. May throw `NotPossibleError`. */
  readonly present: (contents: OrgContents) => string;
  readonly changes: readonly [weak: Change, strict: Change];
}

/** A change's name, its label, and what it sets: a value, or a function that finds or makes it. */
type To<Value> = readonly [name: string, label: string, value: Value];
type Finder = (contents: OrgContents) => Found<JsonObject>;

export const minutes = (value: unknown) => `${String(value)} minutes`;
export const days = (value: unknown) => `${String(value)} days`;

type Row<Value> = readonly [
  area: string,
  label: string,
  present: Setting["present"],
  set: (draft: Draft, value: Value) => unknown,
];

export function setting<Value>([area, label, present, set]: Row<Value>, weak: To<Value>, strict: To<Value>): Setting {
  const change = ([name, text, value]: To<Value>) => ({ name, label: text, make: (draft: Draft) => set(draft, value) });
  return { area, label, present, changes: [change(weak), change(strict)] };
}

/** A setting of one field of an object. `show` gives the value for people, and the object's name where that is shown, too. */
export function field(
  [area, label, find, path, show]: readonly [
    area: string,
    label: string,
    find: Finder,
    path: string,
    show: (value: unknown, name: string) => string,
  ],
  weak: To<unknown>,
  strict: To<unknown>,
): Setting {
  const present = (contents: OrgContents) => {
    const place = find(contents);
    return show(fieldOf(place.item, path), place.name);
  };
  const set = (draft: Draft, value: unknown) => {
    const place = find(draft.contents);
    setField(draft, place, path, typeof value === "function" ? (value as (from: Draft) => unknown)(draft) : value);
  };
  return setting([area, label, present, set], weak, strict);
}

type Step = readonly [name: string, label: string];

export function superAdmin(
  [name, find]: readonly [name: string, find: (contents: OrgContents) => User | Group],
  granted: Step,
  revoked: Step,
): Setting {
  const present = (contents: OrgContents) => listText(find(contents).roles, "label");
  const set = (draft: Draft, isHeld: boolean) => setSuperAdmin(draft, find(draft.contents), isHeld);
  return setting(["Administrators", `Roles of ${name}`, present, set], [...granted, true], [...revoked, false]);
}

export function status(
  [area, label, find]: readonly [area: string, label: string, find: Finder],
  off: Step,
  on: Step,
): Setting {
  const show = (value: unknown, name: string) => `${name}: ${String(value)}`;
  return field([area, label, find, "status", show], [...off, "INACTIVE"], [...on, "ACTIVE"]);
}

export function mfa(policyName: string, name: string, what: string): Setting {
  const area = what.replace("the ", "");
  const find = (contents: OrgContents) => firstRule(findPolicy(contents, "ACCESS_POLICY", policyName));
  const show = (method: unknown, rule: string) => {
    const isResistant = JSON.stringify(method).includes('"phishingResistant":"REQUIRED"');
    const factors = fieldOf(method, "factorMode") === "1FA" ? "a password alone" : "two factors";
    return `${rule.replace(`${policyName}, `, "")}: ${isResistant ? "phishing-resistant factors" : factors}`;
  };
  return field(
    [area, `${area}: sign-in`, find, "actions.appSignOn.verificationMethod", show],
    [`${name}-off`, `Turn off MFA for ${what}`, verificationMethods.passwordOnly],
    [`${name}-on`, `Turn on MFA for ${what}`, verificationMethods.phishingResistant],
  );
}

type Named = readonly [label: string, path: string];

export function session([label, name]: Named, weak: To<unknown>, strict: To<unknown>): Setting {
  const find = (contents: OrgContents) => firstRule(sessionPolicy(contents));
  const show = (value: unknown, rule: string) =>
    `${rule}: ${typeof value === "boolean" ? onOrOff(value) : minutes(value)}`;
  const path = `actions.signon.session.${name}`;
  return field(["Global session", `Global session: ${label}`, find, path, show], weak, strict);
}

/** Settings of the default policy, which holds for everyone whom no other names. */
export function password([label, path]: Named, weak: To<unknown>, strict: To<unknown>): Setting {
  const find = (contents: OrgContents) => policyPlace(findPolicy(contents, "PASSWORD", "Default Policy"));
  const show = (value: unknown) => (typeof value === "boolean" ? onOrOff(value) : String(value));
  return field(["Passwords", `Passwords: ${label}`, find, `settings.password.${path}`, show], weak, strict);
}
