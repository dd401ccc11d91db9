import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonList } from "../../scanner/evidence/artifacts.ts";
import { isJsonObject } from "../../shared/json.ts";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { createCollection } from "../../scanner/evidence/collect.ts";
import { evaluateCheck } from "../../scanner/evaluate.ts";
import type { CheckResult } from "../../shared/report.ts";
import { aToken, context } from "../support/artifact_builders.ts";
import { compliantOrg, paths } from "../support/compliant_org.ts";
import { mapIdpClient, type Answers } from "../support/map_idp_client.ts";
import { jsonFiles, recordedFolder } from "../support/recorded_objects.ts";

/**
 * Real answers of the provider, through collectors and checks. `OKTA_RECORDED_DIR` names a folder of recorded interactions
 * with the official examples beside it; without it the test reads fixtures of our own that carry the same shapes.
 */
const source =
  process.env["OKTA_RECORDED_DIR"] === undefined
    ? "our own fixtures (OKTA_RECORDED_DIR is not set)"
    : "OKTA_RECORDED_DIR";

interface Answer {
  readonly file: string;
  /** The kind of thing that it answers for: the folder's name. */
  readonly kind: string;
  readonly status: number;
  readonly body: unknown;
}

/** Answers of a compliant org in their place, by what an answer is about. */
const overrides: Readonly<Record<string, (list: JsonList) => Answers>> = {
  apps: appOverrides,
  authenticators: (list) => ({ [paths.authenticators]: list }),
  zones: (list) => ({
    [paths.zones]: list,
    [paths.tokens]: list.map(({ id }) => aToken({ id, network: { connection: "ZONE", include: [id] } })),
  }),
  idps: (list) => ({ [paths.idps]: list, "/api/v1/idps/credentials/keys/your-key-id": { x5c: [] }, ...keysOf(list) }),
  "idps.credentials.keys": ([key = {}]) => ({ "/api/v1/idps/credentials/keys/kid1": key }),
  logStreams: (list) => ({ [paths.logStreams]: list }),
  "api-tokens": (list) => ({ [paths.tokens]: list, ...rolesOf(list) }),
  "users.roles": (list) => ({ "/api/v1/users/00u1/roles": list }),
  "groups.roles": (list) => ({ "/api/v1/groups/00g1/roles": list }),
  groups: (list) => ({
    "/api/v1/users/00u1/groups": list,
    ...Object.fromEntries(list.map(({ id }) => [`/api/v1/groups/${String(id)}/roles`, []])),
  }),
  brands: (list) => ({
    [paths.brands]: list,
    ...Object.fromEntries(list.map(({ id }) => [pagePath(id), { pageContent: "x" }])),
  }),
  "brands.pages.sign-in.customized": ([page = {}]) => ({
    [pagePath("bnd1")]: page,
    "/api/v1/brands/bnd1/pages/sign-in/default": { pageContent: "x" },
  }),
  "brands.pages.sign-in.default": ([page = {}]) => ({
    [pagePath("bnd1")]: { pageContent: null },
    "/api/v1/brands/bnd1/pages/sign-in/default": page,
  }),
  "first-party-app-settings": ([settings = {}]) => ({ [paths.settings]: settings }),
};

const answers = [...recorded(recordedFolder), ...examples(join(dirname(recordedFolder), "openapi_examples"))];
const understood = answers.filter(({ status, kind, body }) => status === 200 && overridesOf(kind, body) !== null);

describe(`answers from ${source}`, () => {
  test("recorded answers exist for most of what is read", () => {
    expect(answers.length).toBeGreaterThan(20);
    expect(understood.length).toBeGreaterThan(15);
  });

  test.each(understood.map((answer) => [answer.file, answer] as const))(
    "%s is read: its checks know every deciding field",
    async (_, { kind, body }) => {
      const results = await evaluateAll({ ...compliantOrg, ...overridesOf(kind, body) });
      const unread = results.flatMap((result) => result.findings.filter((finding) => finding.reason === "unreadable"));
      // Certificates were cut, and words replaced, when names were taken out of the answers.
      const known = unread.filter(
        ({ detail }) => !/cannot read, the (?:certificate of|provider "PROVIDER")/.test(detail),
      );
      expect(known.map((finding) => finding.detail)).toEqual([]);
    },
  );
});

async function evaluateAll(org: Answers): Promise<readonly CheckResult[]> {
  const collection = createCollection(mapIdpClient(org));
  return Promise.all(catalog.map(async (check) => evaluateCheck(check, await collection.obtainFor(check), context)));
}

/** Answers of a compliant org in their place, when it answers with this; null for what no collector reads. */
function overridesOf(kind: string, body: unknown): Answers | null {
  const list = listOf(body);
  const [item = {}] = list;
  if (kind.startsWith("policies.rules") || kind.endsWith("policyId__rules")) return rulesOverrides(list);
  if (/^policies\.(list|get)\.PASSWORD$/.test(kind) || item["type"] === "PASSWORD") return { [paths.password]: list };
  if (kind === "policies.list.OKTA_SIGN_ON" || item["type"] === "OKTA_SIGN_ON") return sessionPolicyOverrides(list);
  return overrides[familyOf(kind)]?.(list) ?? null;
}

/** `zones` for `zones.list`, `zones.get` and an example's `api__v1__zones`. */
function familyOf(kind: string): string {
  const path = kind.replace("api__v1__", "").replaceAll("__", ".");
  return path.replace(/\.(?:list|get)$/, "").replace(/\.(?:userId|groupId|appName)\b/, "");
}

/** Rules of sign-on policies for the session checks, of any other for the apps. */
function rulesOverrides(rules: JsonList): Answers {
  const isSignOn = rules.some((rule) => isJsonObject(rule["actions"]) && "signon" in rule["actions"]);
  return { [isSignOn ? "/api/v1/policies/00p1/rules" : "/api/v1/policies/rst1/rules"]: rules };
}

function sessionPolicyOverrides(policies: JsonList): Answers {
  const rules = compliantOrg["/api/v1/policies/00p1/rules"] ?? [];
  return {
    [paths.signOn]: policies,
    ...Object.fromEntries(policies.map((policy) => [`/api/v1/policies/${String(policy["id"])}/rules`, rules])),
  };
}

function appOverrides(apps: JsonList): Answers {
  const rules = compliantOrg["/api/v1/policies/rst1/rules"] ?? [];
  const policies = new Set(JSON.stringify(apps).match(/(?<=api\/v1\/policies\/)[\w-]+/g));
  const rulesByPath = [...policies].map((id) => [`/api/v1/policies/${id}/rules`, rules] as const);
  return { [paths.apps]: apps, ...Object.fromEntries(rulesByPath) };
}

function keysOf(idps: JsonList): Answers {
  const kids = JSON.stringify(idps).match(/(?<="kid":")[^"]+/g) ?? [];
  return Object.fromEntries(kids.map((kid) => [`/api/v1/idps/credentials/keys/${kid}`, { x5c: [] }]));
}

function rolesOf(tokens: JsonList): Answers {
  const owners = tokens.map((token) => String(token["userId"]));
  return Object.fromEntries(
    owners.flatMap((id) => [
      [`/api/v1/users/${id}/roles`, []],
      [`/api/v1/users/${id}/groups`, []],
    ]),
  );
}

function pagePath(brandId: unknown): string {
  return `/api/v1/brands/${String(brandId)}/pages/sign-in/customized`;
}

function listOf(body: unknown): JsonList {
  return (Array.isArray(body) ? body : [body]).filter(isJsonObject);
}

function recorded(folder: string): readonly Answer[] {
  return jsonFiles(folder).map((file) => {
    const { response } = JSON.parse(readFileSync(file, "utf8")) as { response: { status: number; body: unknown } };
    return { file: nameOf(file), kind: basename(dirname(file)), status: response.status, body: response.body };
  });
}

/** An example's status is in its name: `get.200.List_Tokens.json`. */
function examples(folder: string): readonly Answer[] {
  return jsonFiles(folder).map((file) => ({
    file: nameOf(file),
    kind: basename(dirname(file)),
    status: Number(basename(file).split(".")[1]),
    body: JSON.parse(readFileSync(file, "utf8")) as unknown,
  }));
}

function nameOf(file: string): string {
  return `${basename(dirname(file))}/${basename(file)}`;
}
