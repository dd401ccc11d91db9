import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { readAddressRange, type AddressRange } from "../checks/parsing/address_ranges.ts";
import { accessPolicyId } from "../checks/parsing/access_policy.ts";
import { explicitActivityOf } from "../checks/parsing/activity.ts";
import { readList, readTexts } from "../checks/parsing/fields.ts";
import { nameOf } from "../checks/parsing/names.ts";
import { accessOf } from "../checks/parsing/rule_order.ts";
import { availableValue, type CollectedArtifacts } from "../evidence/artifacts.ts";
import { rulesOf } from "../fix/access_model/planned_policies.ts";
import { listed } from "../fix/plan_draft.ts";
import type { TerraformResource } from "../fix/terraform.ts";
import type { Session } from "./sessions.ts";
import type { SignIn } from "./sign_ins.ts";
import { Tally, type Affected } from "./tally.ts";

/** What a change would have done to the sign-ins of a time. */
export interface Impact {
  /** Null where it depends on the zones that a person chooses. */
  readonly users: number | null;
  readonly apps: number | null;
  readonly sign_ins: number | null;
  readonly names: readonly string[];
  /** Sign-ins that it could be about, and whose entry lacks the user, the address or the session. */
  readonly not_evaluated: number;
  /** False: the log broke off, so that each number is the least. */
  readonly complete: boolean;
  /** For each zone that a person may choose, the sign-ins from outside it. */
  readonly zones?: readonly ZoneImpact[];
  /** With `zones`: who would have been asked for more, wherever they are. */
  readonly asked_again?: Affected;
}

export interface ZoneImpact {
  readonly id: string;
  readonly name: string;
  /** Null: the zone is no list of addresses, so the log does not show who is outside it. */
  readonly users: number | null;
  readonly sign_ins: number | null;
  readonly names: readonly string[];
}

/** Sees each sign-in once, and says what the change would have done. */
export interface ChangeJudge {
  see(signIn: SignIn, session: Session | null): void;
  result(): Omit<Impact, "complete">;
}

/** Factors that a phisher cannot pass on. */
const resistant = new Set(["FIDO_WEBAUTHN", "FIDO2_WEBAUTHN", "WEBAUTHN", "SIGNED_NONCE", "SMART_CARD_IDP", "X509"]);

/** Null for a change of which the log of sign-ins says nothing. */
export function judgeOf(
  resource: TerraformResource,
  resources: readonly TerraformResource[],
  artifacts: CollectedArtifacts,
): ChangeJudge | null {
  switch (resource.type) {
    case "okta_policy_rule_signon":
      return sessionRule(resource, artifacts);
    case "okta_app_signon_policy_rule":
      return appRule(resource, resources, artifacts);
    case "okta_network_zone":
      return resource.attributes.get("usage")?.value === "BLOCKLIST" ? blockedAnonymizers() : null;
    default:
      return null;
  }
}

/** Why the log shows nothing of a change, by the resource's type. */
export function unjudgedReason({ type }: TerraformResource): string {
  if (type.startsWith("okta_policy_password"))
    return "the log of sign-ins does not show how old or how strong a password is";
  if (type === "okta_api_token") return "the log of sign-ins holds no calls with API tokens";
  if (type === "okta_authenticator") return "it concerns enrollments, which are no sign-ins";
  return "it changes no sign-in";
}

function sessionRule({ attributes }: TerraformResource, artifacts: CollectedArtifacts): ChangeJudge | null {
  const policyId = textOf(attributes, "policy_id");
  const limitOf = (name: string) => {
    const attribute = attributes.get(name);
    const minutes = attribute?.change ? attribute.value : null;
    return typeof minutes === "number" ? minutes * 60_000 : null;
  };
  const [idleMs, lifetimeMs] = [limitOf("session_idle"), limitOf("session_lifetime")];
  const zones = isChanged(attributes, "network_includes") ? zoneTallies(artifacts) : null;
  if (idleMs === null && lifetimeMs === null && zones === null) return null;
  const asked = new Tally();
  const restartedMs = new WeakMap<Session, number>();
  let unclear = 0;
  return {
    see(signIn, session) {
      const { kind, atMs, userId } = signIn;
      const isOther = session !== null && session.policies.size > 0 && !session.policies.has(policyId);
      if (isOther || (kind !== "session" && kind !== "app")) return;
      if (kind === "session") {
        if (zones !== null && !countOutside(zones, signIn)) unclear += 1;
        return;
      }
      if (idleMs === null && lifetimeMs === null) return;
      if (userId === null || session === null) {
        unclear += 1;
        return;
      }
      const startedMs = restartedMs.get(session) ?? session.startedMs;
      const isIdle = idleMs !== null && atMs - session.lastMs > idleMs;
      const isOld = lifetimeMs !== null && startedMs !== null && atMs - startedMs > lifetimeMs;
      if (!isIdle && !isOld) return;
      restartedMs.set(session, atMs);
      asked.add({ ...signIn, userId });
    },
    result: () => resultOf(asked, unclear, zones),
  };
}

function appRule(
  { attributes }: TerraformResource,
  resources: readonly TerraformResource[],
  artifacts: CollectedArtifacts,
): ChangeJudge | null {
  const policyId = textOf(attributes, "policy_id");
  const apps = appIdsOf(artifacts, policyId);
  const needsResistant = isChanged(attributes, "constraints");
  const needsTwo = isChanged(attributes, "factor_mode");
  const ofPolicy = resources.filter((other) => other.attributes.get("policy_id")?.value === policyId);
  const isZoned = isChanged(attributes, "network_includes");
  const isClosed = isChanged(attributes, "access");
  const leavesZones = ofPolicy.some((other) => isChanged(other.attributes, "network_includes"));
  const zones = isZoned || (isClosed && leavesZones) ? zoneTallies(artifacts) : null;
  // No zone is to be chosen: who is outside those of the other rules is kept out.
  const allowed = isClosed && !leavesZones ? allowedRanges(artifacts, policyId) : null;
  if (zones === null && allowed === null && !needsResistant && !needsTwo) return null;
  const tally = new Tally();
  let unclear = 0;
  return {
    see(signIn, session) {
      const { kind, targets, userId, address } = signIn;
      if (kind !== "app" || !targets.some((id) => apps.has(id))) return;
      let isUnclear = zones !== null && !countOutside(zones, signIn);
      let isAffected = false;
      if (needsResistant || needsTwo) {
        if (session === null) isUnclear = true;
        else {
          const factors = [...session.factors];
          isAffected = needsResistant ? !factors.some((factor) => resistant.has(factor)) : factors.length === 0;
        }
      }
      if (allowed !== null) {
        const range = address === null ? null : rangeOf(address);
        if (range === null) isUnclear = true;
        else isAffected ||= !allowed.some((block) => isWithin(range, block));
      }
      if (userId === null) isUnclear = true;
      else if (isAffected) tally.add({ ...signIn, userId });
      if (isUnclear) unclear += 1;
    },
    result: () => resultOf(tally, unclear, zones),
  };
}

function blockedAnonymizers(): ChangeJudge {
  const tally = new Tally();
  let unclear = 0;
  return {
    see(signIn) {
      const { kind, userId, isProxy } = signIn;
      if (kind !== "session" || !isProxy) return;
      if (userId === null) unclear += 1;
      else tally.add({ ...signIn, userId });
    },
    result: () => resultOf(tally, unclear, null),
  };
}

function resultOf(tally: Tally, unclear: number, zones: readonly ZoneTally[] | null): Omit<Impact, "complete"> {
  const affected = tally.result();
  if (zones === null) return { ...affected, not_evaluated: unclear };
  return {
    users: null,
    apps: null,
    sign_ins: null,
    names: [],
    not_evaluated: unclear,
    zones: zones.map(({ id, name, ranges, tally: outside }) => {
      const { users, sign_ins, names } = outside.result();
      return ranges === null
        ? { id, name, users: null, sign_ins: null, names: [] }
        : { id, name, users, sign_ins, names };
    }),
    ...(affected.sign_ins > 0 && { asked_again: affected }),
  };
}

interface ZoneTally {
  readonly id: string;
  readonly name: string;
  /** Null: it is not by addresses. */
  readonly ranges: readonly AddressRange[] | null;
  readonly tally: Tally;
}

/** The zones that a person may choose: active ones of usage POLICY. */
function zoneTallies({ network_zones: zones }: CollectedArtifacts): readonly ZoneTally[] {
  return (
    listed(zones)
      .filter((zone) => zone["usage"] === "POLICY" && explicitActivityOf(zone) === "active")
      .map((zone) => ({ id: String(zone["id"]), name: nameOf(zone), ranges: rangesOf(zone), tally: new Tally() }))
      // Okta's own zones are there before anybody writes an address into them.
      .filter(({ ranges }) => ranges?.length !== 0)
  );
}

/** False where the entry does not say who it was, or from where. */
function countOutside(zones: readonly ZoneTally[], signIn: SignIn): boolean {
  const { userId, address } = signIn;
  const range = address === null ? null : rangeOf(address);
  if (userId === null || range === null) return false;
  for (const { ranges, tally } of zones) {
    if (ranges !== null && !ranges.some((block) => isWithin(range, block))) tally.add({ ...signIn, userId });
  }
  return true;
}

function rangesOf(zone: JsonObject): readonly AddressRange[] | null {
  const gateways = zone["type"] === "IP" ? readList(zone, "gateways") : null;
  if (gateways?.kind === "absent") return [];
  if (gateways?.kind !== "value") return null;
  const ranges = gateways.value.map((gateway) =>
    isJsonObject(gateway) ? readAddressRange(String(gateway["value"])) : null,
  );
  return ranges.every((range) => range !== null) ? ranges : null;
}

/** The addresses from where a policy's other rules let people in; null where they cannot be known. */
function allowedRanges(artifacts: CollectedArtifacts, policyId: string): readonly AddressRange[] | null {
  const zones = new Map(listed(artifacts.network_zones).map((zone) => [zone["id"], zone]));
  const rules = (rulesOf(artifacts, "app", policyId) ?? []).filter(
    (rule) => rule["system"] !== true && accessOf(rule, "actions.appSignOn.access") === "ALLOW",
  );
  const ranges = rules.map((rule) => {
    const include = readTexts(rule, "conditions.network.include");
    const found = include.kind === "value" ? include.value.map((id) => zones.get(id)) : [];
    const each = found.map((zone) => (zone === undefined ? null : rangesOf(zone)));
    return each.length > 0 && each.every((one) => one !== null) ? each.flat() : null;
  });
  return ranges.every((one) => one !== null) ? ranges.flat() : null;
}

function appIdsOf(artifacts: CollectedArtifacts, policyId: string): ReadonlySet<unknown> {
  const builtIn = [artifacts.admin_console_app, artifacts.dashboard_app].flatMap((evidence) => {
    const app = evidence === undefined ? null : (availableValue(evidence)?.app ?? null);
    return app === null ? [] : [app];
  });
  const apps = [...listed(artifacts.apps), ...builtIn].filter((app) => accessPolicyId(app) === policyId);
  return new Set(apps.map(({ id }) => id));
}

/** An address as a range of one; `::ffff:192.0.2.1` is one of IPv4. */
function rangeOf(address: string): AddressRange | null {
  return address.includes("-") || address.includes("/")
    ? null
    : readAddressRange(address.replace(/^::ffff:(?=\d+\.)/i, ""));
}

function isWithin(range: AddressRange, block: AddressRange): boolean {
  return range.family === block.family && range.first >= block.first && range.last <= block.last;
}

function textOf(attributes: TerraformResource["attributes"], name: string): string {
  const value = attributes.get(name)?.value;
  return typeof value === "string" ? value : "";
}

function isChanged(attributes: TerraformResource["attributes"], name: string): boolean {
  return (attributes.get(name)?.change ?? null) !== null;
}
