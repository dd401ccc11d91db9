import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import {
  aCatchAll,
  aDefaultRule,
  aPasswordPolicy,
  aRole,
  aSessionPolicy,
  aSessionRule,
  aSmartCardIdp,
  aToken,
  aZone,
  adminConsoleApp,
  anAccessRule,
  anAction,
  anAnonymizerZone,
  anApp,
  anAutomation,
  anEveryoneGroup,
  bannerPage,
  context,
  dashboardApp,
  set,
} from "../support/artifact_builders.ts";
import { paths } from "../support/compliant_org.ts";
import { createRandom } from "../support/random.ts";
import { mutate } from "./mutate_json.ts";
import { recordedObjects, type RecordedKind } from "../support/recorded_objects.ts";
import { json, orgUrl, type Answering } from "./answers.ts";
import smartCards from "./smart_cards.json" with { type: "json" };

/** Answers of an organization by path: any JSON, or a refusal. A path that is missing is 404. */
export type OrgAnswers = Readonly<Record<string, unknown>>;

export class Refused {
  readonly status: number;
  /** How many entries of `list` come before the page that is refused. */
  readonly list: readonly unknown[] | null;

  constructor(status: number, list: readonly unknown[] | null = null) {
    this.status = status;
    this.list = list;
  }
}

/** The answers of an organization, each list in pages of this size. */
export function answering(org: OrgAnswers, pageSize = Number.POSITIVE_INFINITY): Answering {
  return (path) => {
    if (path === "/.well-known/okta-organization") return json(200, { id: "00oGenerated", pipeline: "idx" });
    const asked = path.replace(/[?&]after=\d+$/, "");
    const from = Number(/[?&]after=(\d+)$/.exec(path)?.[1] ?? 0);
    const next = (after: number) => ({
      link: `<${orgUrl}${asked}${asked.includes("?") ? "&" : "?"}after=${after}>; rel="next"`,
    });
    const answer = Object.hasOwn(org, asked) ? org[asked] : new Refused(404);
    if (answer instanceof Refused) {
      if (answer.list === null || from > 0) return json(answer.status, { errorCode: "E0000009" });
      return json(200, answer.list, next(answer.list.length));
    }
    if (!Array.isArray(answer) || answer.length <= pageSize) return json(200, answer);
    const until = from + pageSize;
    return json(200, answer.slice(from, until), until < answer.length ? next(until) : {});
  };
}

/** 2,000 organizations, the same ones in every run. */
export function* generateOrgs(): Generator<Answering> {
  const generate = createOrgGenerator(createRandom(20_261_121));
  for (let number = 0; number < 2000; number++) yield answering(generate());
}

/**
 * Whole organizations from compliant and recorded objects, some of them mutated: the same for the same random numbers.
 * From every check passing to everything in disorder; ids are unique, so that a finding can be followed.
 */
export function createOrgGenerator(random: () => number): () => OrgAnswers {
  const recorded = recordedObjects();
  const some = (most: number, least = 0) => least + Math.floor(random() * (most - least + 1));
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;

  return function generate() {
    const disorder = pick([0, 0.05, 0.15, 0.4]);
    const org: Record<string, unknown> = {};
    const happens = (odds = disorder) => random() < odds;

    /** A compliant object, a recorded one in its place, or one that something happened to; its id stays. */
    function a(compliant: JsonObject, kind: RecordedKind | null = null, kept: readonly string[] = ["id"]): JsonObject {
      const pool = kind === null ? [] : recorded[kind];
      const from = pool.length > 0 && happens() ? pick(pool) : compliant;
      const changed = happens() ? mutate(from, random) : from;
      return { ...changed, ...Object.fromEntries(kept.map((field) => [field, compliant[field]])) };
    }

    const several = <Item>(most: number, make: (number: number) => Item, least = 0): readonly Item[] =>
      Array.from({ length: some(most, least) }, (_, index) => make(index + 1));
    /** Ties among them where there is disorder. */
    const priority = (number: number) => (happens() ? some(3) : number);

    addSession();
    addPasswords();
    addAutomations();
    addApps();
    addZonesAndTokens();
    addOthers();
    for (const path of Object.keys(org)) if (happens(disorder / 8)) org[path] = new Refused(pick([400, 403, 404]));
    return org;

    function addSession(): void {
      const policies = several(3, (number) => a(aSessionPolicy({ id: `00p${number}` }), "sessionPolicies"), 1);
      org[paths.signOn] = policies;
      for (const policy of policies) {
        const rules = several(
          3,
          (number) =>
            a(aSessionRule({ ...named("0pr", number), priority: priority(number) }), "sessionRules", idAndName),
          happens() ? 0 : 1,
        );
        org[rulesOf(policy)] = [...rules.map(forSome), a(aDefaultRule({ priority: rules.length + 1 }))];
      }
    }

    function addPasswords(): void {
      const policies = several(3, (number) => a(aPasswordPolicy({ id: `00w${number}` }), "passwordPolicies"), 1);
      org[paths.password] = policies;
    }

    function addAutomations(): void {
      const automations = several(2, (number) => a(anAutomation({ id: `rstAuto${number}` })), happens() ? 0 : 1);
      org[paths.lifecycle] = automations;
      for (const policy of automations) {
        org[rulesOf(policy)] = several(
          2,
          (number) => a(anAction(named("act", number)), null, idAndName),
          happens() ? 0 : 1,
        );
      }
    }

    function addApps(): void {
      const console = a(adminConsoleApp, null, ["id", "name"]);
      const dashboard = a(dashboardApp, null, ["id", "name"]);
      const policyLink = (id: string) => ({ accessPolicy: { href: `${context.orgUrl}/api/v1/policies/${id}` } });
      const others = several(4, (number) =>
        a(anApp({ id: `0oa${number}`, _links: policyLink(`rst${some(3, 1)}`) }), "apps", ["id", "_links"]),
      ).map((app) => (firstParty.has(app["name"]) ? { ...app, name: "oidc_client" } : app));
      // To a role below Super Administrator no answer shows them.
      const isShown = !happens();
      org[paths.apps] = isShown ? [console, dashboard, ...others] : others;
      org[paths.groups] = [a(anEveryoneGroup())];
      org[paths.adminConsole] = isShown ? [console] : [];
      org[paths.dashboard] = isShown ? [dashboard] : [];
      for (const id of ["rst1", "rst2", "rst3"]) {
        const rules = several(
          2,
          (number) =>
            a(anAccessRule({ ...named("rul", number), priority: priority(number) }), "accessRules", idAndName),
          happens() ? 0 : 1,
        );
        org[`/api/v1/policies/${id}/rules`] = [
          ...rules.map(withChains).map(forSome),
          ...(happens() ? [] : [a(aCatchAll())]),
        ];
      }
      org[paths.settings] = a({ sessionIdleTimeoutMinutes: 15, sessionMaxLifetimeMinutes: 720 }, null, []);
    }

    function withChains(rule: JsonObject): JsonObject {
      if (!happens()) return rule;
      const chain = (keys: readonly string[]): JsonObject => ({
        authenticationMethods: [a({ key: keys[0], method: "any" }, null, [])],
        next: keys.length > 1 ? [chain(keys.slice(1))] : [],
      });
      const chains = several(
        2,
        () =>
          chain([pick(["okta_password", "webauthn", "okta_email"]), pick(["smart_card_idp", "okta_verify", "tac"])]),
        1,
      );
      return set(rule, "actions.appSignOn.verificationMethod", { type: "AUTH_METHOD_CHAIN", chains });
    }

    /** Limits a rule to some, which leaves the others to the rules after it; now and then makes it one that denies. */
    function forSome(rule: JsonObject): JsonObject {
      const [path, condition] = pick<[path: string, condition: unknown]>([
        ["people", { groups: { include: ["00g1"] } }],
        ["people", { groups: { include: ["00gEveryone"] } }],
        ["device", { managed: true }],
        ["riskScore", { level: pick(["ANY", "HIGH"]) }],
        ["network", { connection: "ZONE", exclude: [pick(["nzo1", "nzx1", "nzoGone", "ALL_ZONES"])] }],
      ]);
      const restricted = happens(disorder / 2) ? set(rule, `conditions.${path}`, condition) : rule;
      const action = isJsonObject(rule["actions"]) && "appSignOn" in rule["actions"] ? "appSignOn" : "signon";
      return happens(disorder / 4) ? set(restricted, `actions.${action}.access`, "DENY") : restricted;
    }

    function addZonesAndTokens(): void {
      org[paths.zones] = [
        a(aZone()),
        ...several(2, (number) => a(aZone({ id: `nzx${number}`, name: `Site ${number}` }), "zones")),
        ...(happens() ? [] : [a(anAnonymizerZone({ gateways: null }))]),
      ];
      const tokens = several(3, (number) =>
        a(aToken({ id: `00T${number}`, userId: `00u${number}` }), "tokens", ["id"]),
      );
      org[paths.tokens] = tokens;
      for (const { userId } of tokens) {
        org[`/api/v1/users/${String(userId)}`] = a({ id: userId, profile: { login: "siem@acme.example" } });
        org[`/api/v1/users/${String(userId)}/roles`] = several(2, () => aRoleOf());
        const groups = several(2, (number) => a({ id: `00g${number}`, profile: { name: `Group ${number}` } }));
        org[`/api/v1/users/${String(userId)}/groups`] = groups;
        for (const { id } of groups) org[`/api/v1/groups/${String(id)}/roles`] = several(1, () => aRoleOf());
      }
    }

    function aRoleOf(): JsonObject {
      return a(aRole(happens() ? "SUPER_ADMIN" : pick(["READ_ONLY_ADMIN", "APP_ADMIN"])), "roles");
    }

    function addOthers(): void {
      const keys = [
        "smart_card_idp",
        ...pick([["okta_verify"], ["okta_verify_push", "okta_verify_totp"], ["okta_verify"]]),
      ];
      org[paths.authenticators] = keys.map((key) =>
        a(
          { id: `aut-${key}`, key, name: key, status: "ACTIVE", settings: { compliance: { fips: "REQUIRED" } } },
          "authenticators",
        ),
      );
      const brands = several(
        2,
        (number) => {
          const domains = happens() ? [] : [{ id: `OcD${number}`, domain: `id${number}.acme.example` }];
          const known = happens() ? {} : { isDefault: number === 1, _embedded: { domains } };
          return a({ id: `bnd${number}`, name: `brand ${number}`, ...known }, "brands");
        },
        1,
      );
      org[paths.brands] = brands;
      for (const { id } of brands) {
        const page = happens() ? pick([null, "<p>Welcome</p>", bannerPage.slice(0, 900), 7]) : bannerPage;
        org[`/api/v1/brands/${String(id)}/pages/sign-in/customized`] = { pageContent: page };
        org[`/api/v1/brands/${String(id)}/pages/sign-in/default`] = { pageContent: null };
      }
      org[paths.logStreams] = several(
        2,
        (number) =>
          a({ id: `0log${number}`, name: `SIEM ${number}`, type: "aws_eventbridge", status: "ACTIVE" }, "logStreams"),
        happens() ? 0 : 1,
      );
      const { protocol, key } = pick(cards);
      const idp = { ...aSmartCardIdp(), protocol };
      org[paths.idps] = several(2, (number) => a({ ...idp, id: `0idp${number}` }, "idps"), happens() ? 0 : 1);
      org[`/api/v1/idps/credentials/keys/${key.kid}`] = a(key);
      const provisioning = { profileMaster: happens() };
      org[paths.samlIdps] = several(1, (number) =>
        a({ id: `0saml${number}`, type: "SAML2", name: "Partner", status: "ACTIVE", policy: { provisioning } }),
      );
    }
  };
}

/** Names are unique where the provider wants them so: of rules in a policy. */
const idAndName = ["id", "name"];

function named(prefix: string, number: number): JsonObject {
  return { id: `${prefix}${number}`, name: `Rule ${number}` };
}

const firstParty = new Set<unknown>(["saasure", "okta_enduser"]);

const cards = [smartCards.dod, smartCards.dod, smartCards.dod, smartCards.company];

function rulesOf(policy: JsonObject): string {
  return `/api/v1/policies/${String(policy["id"])}/rules`;
}
