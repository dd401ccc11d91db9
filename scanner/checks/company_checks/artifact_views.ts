import type { JsonObject } from "../../../shared/json.ts";
import type {
  ApiTokenOwner,
  ArtifactName,
  Artifacts,
  BuiltInApp,
  Evidence,
  PolicyWithRules,
} from "../../evidence/artifacts.ts";
import { Unavailable } from "./evaluate_expression.ts";

/** An artifact as an expression sees it: plain values, with `Unavailable` where evidence within it is missing. */
export interface ArtifactView {
  /** A finding's resource type. */
  readonly type: string;
  readonly isList: boolean;
  readonly toView: (value: unknown) => unknown;
}

type Views = {
  readonly [Name in ArtifactName]: {
    readonly type: string;
    readonly isList: boolean;
    readonly toView: (value: Extract<Artifacts[Name], { readonly state: "obtained" }>["value"]) => unknown;
  };
};

const views: Views = {
  global_session_policies: policies("policy"),
  password_policies: { type: "policy", isList: true, toView: asIs },
  user_lifecycle_policies: policies("automation"),
  apps: { type: "app", isList: true, toView: asIs },
  app_policy_rules: {
    type: "policy",
    isList: true,
    toView: (byId) => Object.entries(byId).map(([id, rules]) => ({ id, rules: valueOf(rules, asIs) })),
  },
  admin_console_app: { type: "app", isList: false, toView: builtInApp },
  dashboard_app: { type: "app", isList: false, toView: builtInApp },
  admin_console_settings: { type: "settings", isList: false, toView: (value) => ({ id: "admin-console", ...value }) },
  authenticators: { type: "authenticator", isList: true, toView: asIs },
  brand_sign_in_pages: {
    type: "brand",
    isList: true,
    toView: (brands) => brands.map(({ brand, page }) => ({ ...brand, page: valueOf(page, (value) => ({ ...value })) })),
  },
  network_zones: { type: "zone", isList: true, toView: asIs },
  api_tokens: { type: "api_token", isList: true, toView: asIs },
  api_token_owners: {
    type: "user",
    isList: true,
    toView: (owners) => Object.entries(owners).map(([id, owner]) => toOwner(id, owner)),
  },
  built_in_groups: { type: "group", isList: true, toView: asIs },
  log_streams: { type: "log_stream", isList: true, toView: asIs },
  smart_card_idps: {
    type: "identity_provider",
    isList: true,
    toView: (idps) => idps.map(({ idp, certificate }) => ({ ...idp, certificate: valueOf(certificate, asIs) })),
  },
};

export const artifactNames: readonly string[] = Object.keys(views);

export function viewOf(name: ArtifactName): ArtifactView {
  const { type, isList, toView } = views[name];
  // Its callers give each view the value of its artifact.
  return { type, isList, toView: toView as (value: unknown) => unknown };
}

const notRequested = (what: string) => new Unavailable("needs_review", `${what}, which a scan does not ask for`);

function policies(type: string) {
  return {
    type,
    isList: true,
    toView: (found: readonly PolicyWithRules[]) =>
      found.map(({ policy, rules }) => ({
        ...policy,
        rules: rules === null ? notRequested("the rules of a policy that is not active") : valueOf(rules, asIs),
      })),
  };
}

function builtInApp({ app, rules }: BuiltInApp): unknown {
  if (app === null) return new Unavailable("missing_role", "no answer: the app is shown to Super Administrators only");
  return { ...app, rules: rules === null ? null : valueOf(rules, asIs) };
}

function toOwner(id: string, { roles, groups }: ApiTokenOwner): JsonObject {
  const ofGroups = (found: NonNullable<typeof groups>) =>
    valueOf(found, (list) => list.map((group) => ({ ...group, roles: valueOf(group.roles, asIs) })));
  return {
    id,
    roles: valueOf(roles, asIs),
    groups: groups === null ? notRequested("the groups of a user with a deciding role") : ofGroups(groups),
  };
}

function valueOf<Value>(evidence: Evidence<Value>, toView: (value: Value) => unknown): unknown {
  if (evidence.state === "obtained") return toView(evidence.value);
  return new Unavailable(evidence.reason, evidence.detail);
}

function asIs(value: unknown): unknown {
  return value;
}
