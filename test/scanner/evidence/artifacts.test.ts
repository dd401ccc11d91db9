import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { catalog } from "../../../scanner/catalog/catalog.ts";
import { defaultScopes } from "../../../scanner/settings/values.ts";
import { obtained, type ArtifactName } from "../../../scanner/evidence/artifacts.ts";
import { createCollection } from "../../../scanner/evidence/collect.ts";
import { artifactTable, firstRequests } from "../../../scanner/evidence/artifact_table.ts";
import { routes } from "../../../practice_org/api/routes.ts";
import { compliantOrg } from "../../support/compliant_org.ts";
import { compliantArtifacts } from "../../support/artifact_builders.ts";
import { mapIdpClient } from "../../support/map_idp_client.ts";

/** The places that have to know an artifact and that the compiler cannot check. */

const names = Object.keys(artifactTable) as ArtifactName[];
const setupPage = readFileSync(join(import.meta.dirname, "../../../docs/quickstart.md"), "utf8");
/** Derived from other artifacts, whose requests the probe begins with. */
const derived: readonly ArtifactName[] = ["automation_groups", "app_policy_rules", "api_token_owners"];

const forOneGroup = { conditions: { people: { groups: { include: ["00g1"] } } } };

describe.each(names)("%s", (name) => {
  let paths: readonly string[];
  let scopes: readonly string[];

  beforeAll(async () => {
    const client = mapIdpClient(compliantOrg);
    const collected = await createCollection(client).obtain([name]);
    expect(collected[name], "the compliant org of test/support/compliant_org.ts has to answer").toMatchObject({
      state: "obtained",
    });
    paths = client.paths();
    scopes = [...new Set(client.requests.map(({ scope }) => scope))];
  });

  test("is needed by a check", () => {
    const forOne = obtained([{ policy: {}, rules: obtained([forOneGroup]) }]);
    const orgs = [
      compliantArtifacts({ user_lifecycle_policies: obtained([]), global_session_policies: forOne }),
      // An automation for a group that is not known to be Everyone.
      compliantArtifacts({ built_in_groups: obtained([]) }),
    ];
    const needed = catalog.flatMap((check) => [
      ...check.artifacts,
      ...orgs.flatMap((artifacts) => check.conditionalArtifacts(artifacts)),
    ]);
    expect(needed, "a check in scanner/checks/ that declares it").toContain(name);
  });

  test("begins with the request of the probe", () => {
    const [first] = firstRequests([name]);
    if (derived.includes(name)) expect(first).toBeUndefined();
    else expect(paths, "the request in scanner/evidence/artifact_table.ts").toContain(first?.path);
  });

  test("has its scopes in every place that lists scopes", () => {
    const served = new Set(routes.flatMap((route) => route.scope ?? []));
    for (const scope of scopes) {
      expect(defaultScopes, "defaultScopes in scanner/settings/values.ts").toContain(scope);
      expect([...served], "routes in practice_org/api/routes.ts").toContain(scope);
      expect(setupPage, "the scopes to grant in docs/quickstart.md").toContain(`\`okta.${scope}\``);
    }
    for (const { rule } of catalog.filter((check) => check.artifacts.includes(name))) {
      const place = `scopes of ${rule.vuln_id} in scanner/catalog/`;
      expect(rule.scopes, place).toEqual(expect.arrayContaining([...scopes]));
    }
  });

  test("is answered by the practice org", () => {
    const patterns = routes.map(({ path }) => new RegExp(`^${path.replaceAll("*", "[^/]+")}$`));
    const unknown = paths.filter((path) => !patterns.some((pattern) => pattern.test(path.split("?")[0] ?? "")));
    expect(unknown, "routes in practice_org/api/routes.ts").toEqual([]);
  });
});
