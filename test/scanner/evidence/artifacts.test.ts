import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { defaultScopes } from "../../../scanner/settings/values.ts";
import type { ArtifactName } from "../../../scanner/evidence/artifacts.ts";
import { createCollection } from "../../../scanner/evidence/collect.ts";
import { artifactTable, firstRequests } from "../../../scanner/evidence/artifact_table.ts";
import { routes } from "../../../practice_org/api/routes.ts";
import { compliantOrg } from "../../support/compliant_org.ts";
import { mapIdpClient } from "../../support/map_idp_client.ts";

/** The places that have to know an artifact and that the compiler cannot check. */

const names = Object.keys(artifactTable) as ArtifactName[];
const setupPage = readFileSync(join(import.meta.dirname, "../../../docs/quickstart.md"), "utf8");
/** Derived from other artifacts, whose requests the probe begins with. */
const derived: readonly ArtifactName[] = ["automation_groups", "app_policy_rules", "api_token_owners"];

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
  });
});
