import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { catalog, type CatalogCheck } from "../../scanner/catalog/catalog.ts";
import { isHolding } from "../../shared/rule_result.ts";
import type { CheckResult } from "../../shared/report.ts";
import { worstStatus } from "../../shared/rule_result.ts";
import { changeAt, listsIn, mutate, shuffle, waysIn, type Way } from "../support/mutate_json.ts";
import { anApp, set } from "../support/artifact_builders.ts";
import { paths } from "../support/compliant_org.ts";
import { judgeOrg } from "../support/table_provider.ts";
import { Refused, type OrgAnswers } from "../verdicts/generated_orgs.ts";
import { settings } from "./org_settings.ts";

/** What holds of every organization, whatever the right verdict on it is. */
export interface Invariant {
  readonly name: string;
  /** Changes the organization once and compares; null where it holds nothing to change. */
  readonly tryOn: (org: OrgAnswers, before: Results, random: () => number) => Promise<readonly Violation[] | null>;
}

export type Results = ReadonlyMap<string, CheckResult>;

export interface Violation {
  readonly check: string;
  /** What was changed, as a class: a path without its ids, and the change. */
  readonly change: string;
  readonly after: string;
  /** The answer that was changed, and what was found in it. */
  readonly example: string;
}

export async function judgeAll(org: OrgAnswers): Promise<Results> {
  return byName(await judgeOrg(org));
}

export const invariants: readonly Invariant[] = [
  {
    name: "an element that cannot be read never turns FAIL into PASS or PASS into FAIL, and no proven FAIL into anything else",
    async tryOn(org, before, random) {
      const path = pick(Object.keys(org), random);
      const lists = listsIn(org[path]);
      if (lists.length === 0) return null;
      const way = pick(lists, random);
      const noise = pick(way.length === 0 ? unreadableEntries : unreadableItems, random);
      const what = isJsonObject(noise) ? "an empty object" : "a non-object";
      const changed = changeAnswer(org, path, way, (list) => inserted(list as readonly unknown[], noise, random));
      return compare(changed, { path, change: `${what} ${way.filter(isText).join(".")}` }, (check) => {
        const first = before.get(check.name);
        if (first === undefined) return null;
        return (status) => {
          if (isProven(first, path, way)) return status === "FAIL";
          return status === first.status || status === "MANUAL" || first.status === "MANUAL";
        };
      });
    },
  },
  {
    name: "what one element proves stays, whatever other elements are added",
    async tryOn(org, before, random) {
      const path = pick([...Object.keys(judgedOneByOne), ...Object.keys(oneIsEnough)], random);
      const list = org[path];
      if (!Array.isArray(list) || list.length === 0) return null;
      const element: unknown = pick(list, random);
      if (!isJsonObject(element)) return null;
      const added = { ...mutate(element, random), id: "another" };
      const changed = changeAnswer(org, path, [], () => inserted(list, added, random));
      return compare(changed, { path, change: "with another element" }, (check) => {
        const first = before.get(check.name);
        if (first === undefined) return null;
        if (isProven(first, path, [])) return (status) => status === "FAIL";
        return first.status === "PASS" && oneIsEnough[path] === check.name ? (status) => status === "PASS" : null;
      });
    },
  },
  {
    name: "evidence that is missing, all of it or the end of a list, leaves the verdict or makes it MANUAL",
    async tryOn(org, before, random) {
      const path = pick(Object.keys(org), random);
      const answer = org[path];
      if (answer instanceof Refused) return null;
      const isCut = Array.isArray(answer) && answer.length > 0 && random() < 0.5;
      const kept = isCut ? answer.slice(0, Math.floor(random() * (answer.length + 1))) : null;
      const changed = { ...org, [path]: new Refused(pick([400, 403], random), kept) };
      const change = isCut ? "the end of the list is refused" : "refused";
      return compare(changed, { path, change }, (check) => {
        const first = before.get(check.name)?.status;
        const isWhole = !isCut || path !== wholeListOf[check.name];
        return (status) => status === "MANUAL" || (status === first && (isWhole || status !== "PASS"));
      });
    },
  },
  {
    name: "the order of lists and the size of pages change nothing",
    async tryOn(org, before, random) {
      const shuffled = Object.fromEntries(
        Object.entries(org).map(([path, answer]) => [
          path,
          answer instanceof Refused ? answer : shuffle(answer, random),
        ]),
      );
      const checks = checksOf(pick(Object.keys(org), random));
      const after = await judgeOrg(shuffled, { checks, pageSize: 1 + Math.floor(random() * 3) });
      return after.flatMap((result) => {
        const [one, other] = [verdictOf(before.get(result.check)), verdictOf(result)];
        if (one === other) return [];
        return [{ check: result.check, change: "another order", after: result.status, example: `${one} => ${other}` }];
      });
    },
  },
  {
    name: "the letter case of a word flips no verdict, and of a status, provider, role or unit changes none",
    async tryOn(org, before, random) {
      const path = pick(Object.keys(org), random);
      const words = org[path] instanceof Refused ? [] : waysIn(org[path]).filter((way) => isWordAt(org[path], way));
      if (words.length === 0) return null;
      const way = pick(words, random);
      const field = String(way.findLast((key) => typeof key === "string"));
      const changed = changeAnswer(org, path, way, (word) => otherCase(String(word), random));
      return compare(changed, { path, change: `${field} in another case` }, (check) => {
        const first = before.get(check.name)?.status ?? "MANUAL";
        if (isCaseFree(field, path)) return (status) => status === first;
        return (status) =>
          worstStatus([status, first]) !== "FAIL" || status === first || [status, first].includes("MANUAL");
      });
    },
  },
  {
    name: "a stricter value never makes a verdict worse",
    async tryOn(org, _before, random) {
      const setting = pick(settings, random);
      const path = pick(Object.keys(org).filter(setting.isAt), random);
      const answer = path === undefined ? undefined : org[path];
      if (path === undefined || answer instanceof Refused) return null;
      const index = Array.isArray(answer) ? Math.floor(random() * answer.length) : null;
      const object: unknown = index === null ? answer : (answer as readonly unknown[])[index];
      if (!isJsonObject(object) || !setting.isOf(object)) return null;
      const strict = 1 + Math.floor(random() * (setting.values.length - 1));
      const lax = Math.floor(random() * strict);
      const [before, after] = [lax, strict].map((at) =>
        changeAnswer(org, path, index === null ? [] : [index], (found) =>
          setting.put(found as never, setting.values[at]),
        ),
      );
      if (before === undefined || after === undefined) return null;
      const checks = catalog.filter(({ name }) => setting.checks.includes(name));
      const first = byName(await judgeOrg(before, { checks }));
      const change = `${setting.name} ${JSON.stringify(setting.values[lax])} to ${JSON.stringify(setting.values[strict])}`;
      return compare(after, { path, change, checks }, (check) => {
        const lower = first.get(check.name)?.status ?? "FAIL";
        return (status) => ranks[status] >= ranks[lower];
      });
    },
  },
  {
    name: "a condition more on a rule never makes a verdict better",
    async tryOn(org, before, random) {
      const path = pick(
        Object.keys(org).filter((asked) => /policies\/(00p\w*|rst\d)\/rules$/.test(asked)),
        random,
      );
      const rules = org[path];
      if (!Array.isArray(rules) || rules.length === 0) return null;
      const index = Math.floor(random() * rules.length);
      if (!isJsonObject(rules[index])) return null;
      const changed = changeAnswer(org, path, [index], (rule) =>
        set(rule as JsonObject, "conditions.device", { managed: true }),
      );
      return compareStrength(changed, before, { path, change: "with a condition on devices" });
    },
  },
  {
    name: "an app without a sign-in changes no verdict",
    async tryOn(org, before, random) {
      const path = paths.apps;
      if (!Array.isArray(org[path])) return null;
      const settings = { oauthClient: { application_type: "service" } };
      const directory = { name: pick(["active_directory", "ldap_sun_one", "csv_directory"], random), signOnMode: null };
      const app = anApp({ id: "0oaWithout", _links: {}, ...(random() < 0.5 ? { settings } : directory) });
      const changed = changeAnswer(org, path, [], (list) => inserted(list as readonly unknown[], app, random));
      const checks = checksOf(path).filter(({ name }) => name.startsWith("application_"));
      return compareStrength(changed, before, { path, change: "with an app without a sign-in", checks, isEqual: true });
    },
  },
  {
    name: "apps that a role does not see leave no PASS without a word about them",
    async tryOn(org) {
      const path = paths.apps;
      const list = org[path];
      if (!Array.isArray(list)) return null;
      const hidden = list.filter((app) => !isJsonObject(app) || app["name"] !== "saasure");
      const checks = checksOf(path).filter(({ name }) => name.startsWith("application_"));
      const results = await judgeOrg({ ...org, [path]: hidden, [paths.adminConsole]: [] }, { checks });
      return results.flatMap(({ check, status, findings }) => {
        const isFull = findings.some(
          (one) => isHolding(one) && !/administrator role of this run sees/.test(one.detail),
        );
        const isWrong = check.includes("admin_console_")
          ? status === "PASS" && !check.includes("session")
          : isFull && status !== "FAIL" && check.includes("zone_enforced");
        return isWrong ? [{ check, change: "without the Admin Console", after: status, example: "" }] : [];
      });
    },
  },
];

/** How much a result says: what was automated and passed says more than that a person has to look. */
function strengthOf({ status, automated }: CheckResult): number {
  if (status === "PASS") return 3;
  return automated === "PASS" ? 2 : ranks[status];
}

/** The results that say more than before, or with `isEqual` anything else. */
async function compareStrength(
  org: OrgAnswers,
  before: Results,
  { path, change, checks = checksOf(path), isEqual = false }: Change & { readonly isEqual?: boolean },
): Promise<readonly Violation[]> {
  return (await judgeOrg(org, { checks })).flatMap((result) => {
    const first = before.get(result.check);
    if (first === undefined) return [];
    const [was, is] = [strengthOf(first), strengthOf(result)];
    if (isEqual ? is === was : is <= was) return [];
    const example = `${JSON.stringify(org[path])?.slice(0, 900)} => ${result.detail.slice(0, 300)}`;
    return [{ check: result.check, change, after: `${result.status} ${result.reason ?? ""}`, example }];
  });
}

const ranks = { FAIL: 0, MANUAL: 1, PASS: 2 } as const;

/** Elements of a list of objects that say nothing of what they are. */
const unreadableEntries: readonly unknown[] = [
  null,
  7,
  "text",
  [],
  {},
  { status: 7 },
  { id: null, status: "SOMETHING_NEW" },
];
/** Items of a list inside an object: of no type that any of them has. */
const unreadableItems: readonly unknown[] = [null, 7, []];

/** The lists of which each check judges every element, so that one element which FAILs decides. */
const judgedOneByOne: Readonly<Record<string, readonly string[]>> = {
  [paths.password]: ["authenticator_password_"],
  [paths.signOn]: ["signon_global_session_"],
  [paths.apps]: ["application_authentication_policy_network_zone_enforced"],
  [paths.brands]: ["signon_dod_warning_banner_configured"],
  [paths.tokens]: ["apitoken_"],
  [paths.idps]: ["idp_smart_card_dod_approved_ca"],
};

/** The lists of which one compliant element is what the rule asks for. */
const oneIsEnough: Readonly<Record<string, string>> = {
  [paths.logStreams]: "systemlog_streaming_enabled",
  [paths.zones]: "network_zone_block_anonymized_proxies",
  [paths.lifecycle]: "user_inactivity_automation_35d_enabled",
};

/** The lists that a PASS needs the end of. */
const wholeListOf: Readonly<Record<string, string>> = Object.fromEntries(
  catalog.flatMap(({ name }) =>
    Object.entries(judgedOneByOne).flatMap(([path, prefixes]) =>
      prefixes.some((prefix) => name.startsWith(prefix)) ? [[name, path]] : [],
    ),
  ),
);

/** Whether one element alone proves this FAIL, so that no other element of the list can take it back. */
function isProven(result: CheckResult, path: string, way: Way): boolean {
  const isOfElement = result.findings.some(({ status, resource }) => status === "FAIL" && resource.type !== "org");
  if (!isOfElement || way.length > 0) return false;
  if (result.check === "apitoken_not_super_admin") return true;
  // Another policy may be a directory's, which leaves the rule to a person.
  if (result.check === "authenticator_password_lockout_threshold_3") return false;
  return judgedOneByOne[path]?.some((prefix) => result.check.startsWith(prefix)) === true;
}

interface Change {
  readonly path: string;
  readonly change: string;
  readonly checks?: readonly CatalogCheck[];
}

async function compare(
  org: OrgAnswers,
  { path, change, checks = checksOf(path) }: Change,
  allowed: (check: CatalogCheck) => ((status: CheckResult["status"]) => boolean) | null,
): Promise<readonly Violation[]> {
  const results = await judgeOrg(org, { checks });
  return results.flatMap((result, index) => {
    const check = checks[index];
    const isAllowed = check === undefined ? null : allowed(check);
    if (isAllowed === null || isAllowed(result.status)) return [];
    const where = path.replaceAll(/\/(?=\w*\d)(?!v1)[\w-]+/g, "/{id}");
    const example = `${JSON.stringify(org[path])?.slice(0, 700)} => ${result.detail.slice(0, 300)}`;
    return [{ check: result.check, change: `${where} ${change}`, after: result.status, example }];
  });
}

/** The checks that may rest on an answer. */
function checksOf(path: string): readonly CatalogCheck[] {
  const [, prefixes] = restingOn.find(([pattern]) => pattern.test(path)) ?? [];
  if (prefixes === undefined) throw new RangeError(`Unknown which checks rest on "${path}": add it to the table`);
  return catalog.filter(({ name }) => prefixes.some((prefix) => name.startsWith(prefix)));
}

const restingOn: readonly (readonly [RegExp, readonly string[]])[] = [
  [/OKTA_SIGN_ON|policies\/00p/, ["signon_global_session_"]],
  [/type=PASSWORD/, ["authenticator_password_", "user_inactivity_"]],
  [/USER_LIFECYCLE|policies\/rstAuto/, ["user_inactivity_"]],
  [/first-party-app-settings/, ["application_admin_console_session_"]],
  [/\/apps\?|policies\/rst/, ["application_", "user_inactivity_", "authenticator_password_lockout_"]],
  [/\/zones/, ["network_zone_", "apitoken_", "signon_global_session_policy_", "application_authentication_policy_"]],
  [/\/groups\?/, ["signon_global_session_", "application_", "user_inactivity_"]],
  [/api-tokens|\/users\/|\/groups\//, ["apitoken_"]],
  [/\/authenticators/, ["authenticator_smart_card", "authenticator_okta_verify"]],
  [/\/brands/, ["signon_dod_"]],
  [/logStreams/, ["systemlog_"]],
  [/type=SAML2/, ["user_inactivity_", "authenticator_password_lockout_"]],
  [/\/idps/, ["idp_"]],
];

function changeAnswer(org: OrgAnswers, path: string, way: Way, change: (value: unknown) => unknown): OrgAnswers {
  return { ...org, [path]: changeAt(org[path], way, change) };
}

/** Status, provider, role and unit are read in any case; the other words are read as the API writes them. */
function isCaseFree(field: string, path: string): boolean {
  const ofRoles = path.endsWith("/roles") && field === "type";
  return ofRoles || ["status", "provider", "unit", "targetStatus"].includes(field);
}

/** Fields that hold one word of a list. Names, keys and ids are identifiers: in another case they are others. */
const wordFields = new Set(
  "status provider unit targetStatus connection access type usage factorMode phishingResistant fips".split(" "),
);

function isWordAt(answer: unknown, way: Way): boolean {
  const value = way.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown>)[key], answer);
  return typeof value === "string" && /[A-Z]/.test(value) && wordFields.has(String(way.at(-1)));
}

function otherCase(word: string, random: () => number): string {
  return random() < 0.5 ? word.toLowerCase() : word.charAt(0) + word.slice(1).toLowerCase();
}

function inserted(list: readonly unknown[], item: unknown, random: () => number): readonly unknown[] {
  return list.toSpliced(Math.floor(random() * (list.length + 1)), 0, item);
}

/** All that a result says, but the text of what cannot be read: that shows it as it came. */
function verdictOf(result: CheckResult | undefined): string {
  const findings = result?.findings.map(({ status, reason, resource, actual, advisory }) => {
    return [status, reason, resource.id, reason === "unreadable" ? "" : actual, advisory];
  });
  return JSON.stringify([result?.status, result?.reason, findings]);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function pick<Item>(items: readonly Item[], random: () => number): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

function byName(results: readonly CheckResult[]): Results {
  return new Map(results.map((result) => [result.check, result]));
}
