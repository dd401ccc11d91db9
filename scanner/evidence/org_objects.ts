import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { resourceOf } from "../checks/parsing/names.ts";
import {
  availableValue,
  type ArtifactName,
  type Artifacts,
  type BuiltInApp,
  type CollectedArtifacts,
  type Evidence,
  type JsonList,
  type PolicyWithRules,
} from "./artifacts.ts";

/** An object of the provider as an artifact holds it. */
export interface OrgObject {
  readonly artifact: ArtifactName;
  /** `policy`, `policy_rule`, `app`, `zone`, … */
  readonly type: string;
  readonly id: string;
  readonly name: string;
  /** The object that it is a part of, as a rule is of its policy; null: none. */
  readonly parent: Parent | null;
  /** The object itself, not a copy: what reads it is found by its identity. */
  readonly value: JsonObject;
}

interface Parent {
  readonly id: string;
  readonly name: string;
}

/** Objects that were obtained together: an artifact's list, or the rules of one policy. */
export interface ObjectList {
  readonly artifact: ArtifactName;
  readonly parent: Parent | null;
  /** `obtained`, `not_collected`, or the reason why the list is not whole: `objects` are those that arrived. */
  readonly state: string;
  readonly objects: readonly OrgObject[];
}

type Entry = Pick<OrgObject, "type" | "id" | "name" | "value">;

/** The settings of the Admin Console, which the provider gives no id. */
export const consoleSettings = { type: "settings", id: "admin-console", name: "Okta Admin Console" } as const;

export function objectLists(artifacts: CollectedArtifacts): readonly ObjectList[] {
  return (Object.keys(readers) as ArtifactName[]).flatMap((name) =>
    (readers[name] as Reader<unknown>)(name, artifacts[name]),
  );
}

type Reader<Value> = (artifact: ArtifactName, evidence: Evidence<Value> | undefined) => readonly ObjectList[];

const readers: {
  readonly [Name in ArtifactName]: (
    artifact: ArtifactName,
    evidence: Artifacts[Name] | undefined,
  ) => readonly ObjectList[];
} = {
  global_session_policies: policiesWithRules,
  password_policies: listOf("policy"),
  user_lifecycle_policies: policiesWithRules,
  // Before the other apps: their rules are then named after them.
  admin_console_app: builtInApp,
  dashboard_app: builtInApp,
  apps: listOf("app"),
  app_policy_rules: (artifact, evidence) => [
    toList(artifact, evidence, () => []),
    ...Object.entries((evidence && availableValue(evidence)) ?? {}).map(([id, rules]) =>
      toList(artifact, rules, entriesOf("policy_rule"), { id, name: `access policy ${id}` }),
    ),
  ],
  access_policies: listOf("policy"),
  admin_console_settings: (artifact, evidence) => [
    toList(artifact, evidence, (value) => [{ ...consoleSettings, value }]),
  ],
  authenticators: listOf("authenticator"),
  brand_sign_in_pages: (artifact, evidence) => [
    toList(artifact, evidence, (found) => entriesOf("brand")(found.map(({ brand }) => brand))),
    ...((evidence && availableValue(evidence)) ?? []).map(({ brand, page }) => {
      const { id, name } = resourceOf("brand", brand);
      const read = (value: object) => [{ type: "sign_in_page", id, name, value: asObject(value) }];
      return toList(artifact, page, read, { id, name });
    }),
  ],
  network_zones: listOf("zone"),
  api_tokens: listOf("api_token"),
  api_token_owners: (artifact, evidence) => [
    toList(artifact, evidence, (owners) =>
      Object.entries(owners).map(([id, owner]) => ({ type: "api_token_owner", id, name: id, value: asObject(owner) })),
    ),
  ],
  automation_groups: listOf("group"),
  built_in_groups: listOf("group"),
  log_streams: listOf("log_stream"),
  saml_idps: listOf("identity_provider"),
  smart_card_idps: (artifact, evidence) => [
    toList(artifact, evidence, (found) =>
      found.map((item) => ({ ...resourceOf("identity_provider", item.idp), value: asObject(item) })),
    ),
  ],
};

function listOf(type: string): Reader<JsonList> {
  return (artifact, evidence) => [toList(artifact, evidence, entriesOf(type))];
}

function policiesWithRules(
  artifact: ArtifactName,
  evidence: Evidence<readonly PolicyWithRules[]> | undefined,
): readonly ObjectList[] {
  return [
    toList(artifact, evidence, (found) => entriesOf("policy")(found.map(({ policy }) => policy))),
    // The rules of an inactive policy were not requested.
    ...((evidence && availableValue(evidence)) ?? []).flatMap(({ policy, rules }) =>
      rules === null ? [] : [toList(artifact, rules, entriesOf("policy_rule"), resourceOf("policy", policy))],
    ),
  ];
}

function builtInApp(artifact: ArtifactName, evidence: Evidence<BuiltInApp> | undefined): readonly ObjectList[] {
  const { app = null, rules = null } = (evidence && availableValue(evidence)) ?? {};
  const shown = toList(artifact, evidence, () => (app === null ? [] : entriesOf("app")([app])));
  return [
    // A role that is not shown the app does not say that it is gone.
    app === null && shown.state === "obtained" ? { ...shown, state: "missing_role" } : shown,
    ...(app === null || rules === null
      ? []
      : [toList(artifact, rules, entriesOf("policy_rule"), resourceOf("app", app))]),
  ];
}

function toList<Value>(
  artifact: ArtifactName,
  evidence: Evidence<Value> | undefined,
  read: (value: Value) => readonly Entry[],
  { id, name }: Parent | { readonly id: null; readonly name: null } = { id: null, name: null },
): ObjectList {
  const parent = id === null ? null : { id, name };
  const value = evidence === undefined ? null : availableValue(evidence);
  const entries = value === null ? [] : read(value);
  return {
    artifact,
    parent,
    state: evidence === undefined ? "not_collected" : evidence.state === "missing" ? evidence.reason : "obtained",
    objects: entries.map((entry) => ({ artifact, parent, ...entry })),
  };
}

function entriesOf(type: string): (found: JsonList) => readonly Entry[] {
  return (found) => found.map((value) => ({ ...resourceOf(type, value), value }));
}

function asObject(value: object): JsonObject {
  if (isJsonObject(value)) return value;
  throw new TypeError("Cannot list an artifact's objects: it holds a list where an object is expected");
}
