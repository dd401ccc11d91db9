import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CollectedArtifacts, JsonList } from "../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../shared/json.ts";
import { artifactsDocument, parseArtifacts } from "../../scanner/evidence/artifacts_document.ts";
import { catalog } from "../../scanner/catalog/catalog.ts";
import { createCollection } from "../../scanner/evidence/collect.ts";
import { evaluateCheck } from "../../scanner/evaluate.ts";
import { aScan, compliantArtifacts, context } from "../support/artifact_builders.ts";
import { paths } from "../support/compliant_org.ts";
import { aRefusal, mapIdpClient } from "../support/map_idp_client.ts";

/** Whole results, word for word: a change of a verdict, a sentence or a fingerprint shows here. */

test("of compliant artifacts", async () => {
  await expect(await goldenOf(compliantArtifacts())).toMatchFileSnapshot("../golden/compliant.checks.json");
});

test("of an org as it is recorded, on the default settings and with some answers refused", async () => {
  const collection = createCollection(
    mapIdpClient({
      [paths.signOn]: listFixture("policies.list.OKTA_SIGN_ON/01"),
      "/api/v1/policies/00pfix1/rules": [objectFixture("policies.rules.get.SIGN_ON/01")],
      [paths.password]: listFixture("policies.list.PASSWORD/01"),
      [paths.lifecycle]: [],
      [paths.apps]: listFixture("apps.list/01"),
      "/api/v1/policies/rstfix1/rules": listFixture("policies.rules.list/01"),
      "/api/v1/policies/rstfix2/rules": [objectFixture("policies.rules.get.ACCESS_POLICY/01")],
      [paths.settings]: aRefusal(403, "E0000006"),
      [paths.authenticators]: listFixture("authenticators.list/01"),
      [paths.brands]: listFixture("brands.list/01"),
      "/api/v1/brands/bndfix1/pages/sign-in/customized": objectFixture("brands.pages.sign-in.customized/01"),
      [paths.zones]: listFixture("zones.list/01"),
      [paths.tokens]: listFixture("api-tokens.list/01"),
      "/api/v1/users/00ufix1/roles": listFixture("users.roles.list/01"),
      "/api/v1/users/00ufix1/groups": aRefusal(500),
      [paths.logStreams]: listFixture("logStreams.list/01"),
      [paths.samlIdps]: [],
      [paths.idps]: [objectFixture("idps.get/01")],
      "/api/v1/idps/credentials/keys/kid-1": { x5c: [] },
    }),
  );
  await Promise.all(catalog.map((check) => collection.obtainFor(check)));
  await expect(await goldenOf(collection.artifacts())).toMatchFileSnapshot("../golden/recorded.checks.json");
});

/** Through the saved file, as `evaluate --from-artifacts` reads it. */
async function goldenOf(artifacts: CollectedArtifacts): Promise<string> {
  const saved = JSON.stringify(
    artifactsDocument({
      scan: aScan(),
      evaluatedAt: "2026-11-21T12:00:00.000Z",
      checks: catalog.map((check) => check.name),
      artifacts,
    }),
  );
  const { scan, evaluated_at: evaluatedAt, artifacts: read } = parseArtifacts(saved);
  const savedContext = { ...context, engine: scan.engine, orgUrl: scan.org_url, evaluatedAt };
  const results = catalog.map((check) => evaluateCheck(check, read, savedContext));
  return `${JSON.stringify(results, null, 2)}\n`;
}

function listFixture(name: string): JsonList {
  return readFixture(name) as JsonList;
}

function objectFixture(name: string): JsonObject {
  return readFixture(name) as JsonObject;
}

function readFixture(name: string): unknown {
  const file = join(import.meta.dirname, "../fixtures/okta/recorded", `${name}.json`);
  const { response } = JSON.parse(readFileSync(file, "utf8")) as { response: { body: unknown } };
  return response.body;
}
