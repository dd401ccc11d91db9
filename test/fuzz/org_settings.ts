import type { JsonObject } from "../../shared/json.ts";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { set } from "../support/artifact_builders.ts";
import { paths } from "../support/compliant_org.ts";

/** A setting whose values are in an order: each is at least as strict as those before it. */
interface Setting {
  readonly name: string;
  readonly checks: readonly string[];
  /** The answers that hold it. */
  readonly isAt: (path: string) => boolean;
  /** The elements of such an answer that hold it. */
  readonly isOf: (object: JsonObject) => boolean;
  readonly values: readonly unknown[];
  readonly put: (object: JsonObject, value: unknown) => JsonObject;
}

type Place = Pick<Setting, "isAt"> & Partial<Pick<Setting, "isOf" | "put">>;

const at = (path: string): Place => ({ isAt: (asked) => asked === path });
const below = (pattern: RegExp): Place => ({ isAt: (asked) => pattern.test(asked) });
const sessionRules = below(/policies\/00p[^/]*\/rules$/);
const accessRules = below(/policies\/rst\d\/rules$/);
const passwords = at(paths.password);
/** A rule that denies keeps out fewer people with a condition than without. */
const isAllowing = (rule: JsonObject) => !/"access":(?!"ALLOW")/.test(JSON.stringify(rule));

const usingZones = ["apitoken_restricted", "signon_global_session_policy", "application_authentication_policy"];
const policyZones: Place = {
  ...at(paths.zones),
  isOf: ({ type, usage }) => type === "IP" && usage === "POLICY",
  put: (zone, changes) => ({ ...zone, ...(changes as object) }),
};
const narrowZone = { status: "ACTIVE", gateways: [{ type: "CIDR", value: "192.0.2.0/24" }] };

/** 0 is "no limit" where a number bounds something, and so the laxest. */
export const settings: readonly Setting[] = [
  setting("settings.password.complexity.minLength", ["minimum_length"], passwords, [0, 1, 8, 14, 15, 16, 30]),
  setting("settings.password.complexity.minUpperCase", ["uppercase"], passwords, [0, 1, 2]),
  setting("settings.password.complexity.minLowerCase", ["lowercase"], passwords, [0, 1, 2]),
  setting("settings.password.complexity.minNumber", ["complexity_number"], passwords, [0, 1, 2]),
  setting("settings.password.complexity.minSymbol", ["symbol"], passwords, [0, 1, 2]),
  setting("settings.password.complexity.dictionary.common.exclude", ["common_password"], passwords, [false, true]),
  setting("settings.password.age.minAgeMinutes", ["minimum_age"], passwords, [0, 60, 1439, 1440, 2880]),
  setting("settings.password.age.maxAgeDays", ["maximum_age"], passwords, [0, 365, 61, 60, 30, 1]),
  setting("settings.password.age.historyCount", ["history"], passwords, [0, 1, 4, 5, 24]),
  setting("settings.password.lockout.maxAttempts", ["lockout"], passwords, [0, 10, 4, 3, 2, 1]),
  setting(
    "actions.signon.session.maxSessionIdleMinutes",
    ["global_session_idle"],
    sessionRules,
    [0, 120, 16, 15, 5, 1],
  ),
  setting("actions.signon.session.maxSessionLifetimeMinutes", ["lifetime"], sessionRules, [0, 2000, 1081, 1080, 60, 1]),
  setting("actions.signon.session.usePersistentCookie", ["cookies"], sessionRules, [true, false]),
  setting("conditions.network", ["signon_global_session_policy"], { ...sessionRules, isOf: isAllowing }, [
    null,
    { connection: "ANYWHERE", include: ["nzo1"] },
    { connection: "ZONE", include: ["nzo1"] },
  ]),
  setting("conditions.network", ["application_authentication_policy"], { ...accessRules, isOf: isAllowing }, [
    { connection: "ANYWHERE" },
    { connection: "ZONE", include: ["nzo1"] },
  ]),
  setting("sessionIdleTimeoutMinutes", ["admin_console_session"], at(paths.settings), [0, 720, 16, 15, 5, 1]),
  setting(
    "actions.appSignOn.access",
    ["application_authentication_policy"],
    { ...accessRules, isOf: (rule) => rule["system"] === true },
    ["ALLOW", "DENY"],
  ),
  setting("actions.appSignOn.verificationMethod", ["mfa_required"], accessRules, [
    { type: "ASSURANCE", factorMode: "1FA" },
    { type: "ASSURANCE", factorMode: "2FA" },
  ]),
  setting("actions.appSignOn.verificationMethod", ["phishing_resistant"], accessRules, [
    { type: "ASSURANCE", factorMode: "2FA", constraints: [] },
    { type: "ASSURANCE", factorMode: "2FA", constraints: [{ possession: { phishingResistant: "OPTIONAL" } }] },
    { type: "ASSURANCE", factorMode: "2FA", constraints: [{ possession: { phishingResistant: "REQUIRED" } }] },
  ]),
  setting(
    "settings.compliance.fips",
    ["okta_verify"],
    { ...at(paths.authenticators), isOf: ({ key }) => String(key).startsWith("okta_verify") },
    ["OPTIONAL", "REQUIRED"],
  ),
  setting(
    "status",
    ["smart_card_active"],
    { ...at(paths.authenticators), isOf: ({ key }) => key === "smart_card_idp" },
    ["INACTIVE", "ACTIVE"],
  ),
  setting("conditions.people.users.inactivity.number", ["inactivity"], at(paths.lifecycle), [365, 36, 35, 7, 1]),
  setting("actions.updateUserLifecycle.targetStatus", ["inactivity"], below(/rstAuto\d\/rules$/), [
    "STAGED",
    "SUSPENDED",
  ]),
  setting("status", ["systemlog"], at(paths.logStreams), ["INACTIVE", "ACTIVE"]),
  setting("network", ["apitoken_restricted"], at(paths.tokens), [
    { connection: "ANYWHERE" },
    { connection: "ZONE", include: ["no such zone"] },
    { connection: "ZONE", include: ["nzo1"] },
  ]),
  setting("", ["apitoken_not_super"], { ...below(/\/roles$/), put: (role, type) => ({ ...role, type, label: type }) }, [
    "SUPER_ADMIN",
    "READ_ONLY_ADMIN",
  ]),
  setting("status", ["idp_smart"], at(paths.idps), ["INACTIVE", "ACTIVE"]),
  // Whether an inactive zone or one of every address is stricter depends on whether a rule allows or denies by it.
  setting("", usingZones, policyZones, [{ status: "INACTIVE" }, narrowZone]),
  setting("", usingZones, policyZones, [
    { status: "ACTIVE", gateways: [{ type: "CIDR", value: "0.0.0.0/0" }] },
    narrowZone,
  ]),
  setting(
    "ipServiceCategories.include",
    ["network_zone_block"],
    { ...at(paths.zones), isOf: ({ type }) => type === "DYNAMIC_V2" },
    [[], ["NORD_VPN"], ["ALL_ANONYMIZERS"]],
  ),
];

function setting(path: string, parts: readonly string[], place: Place, values: readonly unknown[]): Setting {
  const checks = catalog.map(({ name }) => name).filter((name) => parts.some((part) => name.includes(part)));
  const put = (object: JsonObject, value: unknown) => set(object, path, value);
  return { name: path, checks, isOf: () => true, put, values, ...place };
}
