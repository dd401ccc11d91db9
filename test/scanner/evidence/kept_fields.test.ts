import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { expect, test } from "vitest";
import { catalog } from "../../../scanner/catalog/catalog.ts";
import { obtained } from "../../../scanner/evidence/artifacts.ts";
import { createCollection } from "../../../scanner/evidence/collect.ts";
import { memoize } from "../../../scanner/checks/evaluating/memoize.ts";
import { evaluateCheck } from "../../../scanner/evaluate.ts";
import type { IdpClient } from "../../../scanner/okta/idp_client.ts";
import { context } from "../../support/artifact_builders.ts";
import { createOrgGenerator, Refused } from "../../verdicts/generated_orgs.ts";
import { aRefusal, mapIdpClient, type Answers } from "../../support/map_idp_client.ts";
import { createRandom } from "../../support/random.ts";

/**
 * A field that a collector drops looks absent to a check, and absent is FAIL. So every read of a field is watched, in
 * organizations that take each check through all of its branches.
 */

test("no check reads a field that its collector does not keep", async () => {
  const reads = new Set<string>();
  const generate = createOrgGenerator(createRandom(1));
  for (let number = 0; number < 150; number += 1) {
    const collection = createCollection(watchedClient(toAnswers(generate()), reads));
    for (const check of catalog) evaluateCheck(check, await collection.obtainFor(check), context);
  }
  expect([...reads], "these fields belong to those that scanner/evidence/artifact_table.ts keeps").toEqual([]);
});

function watchedClient(answers: Answers, reads: Set<string>): IdpClient {
  const client = mapIdpClient(answers);
  return {
    ...client,
    async getList(request) {
      const [reading, { keep, path }] = [await client.getList(request), request];
      if (reading.state !== "obtained" || keep === undefined) return reading;
      // The checks read the same fields again and again.
      const see = memoize((field: string) => !isKept(field, keep) && reads.add(`${field} of ${path}`));
      return obtained(reading.value.map((entry) => watched(entry, see)));
    },
  };
}

/** Fields of any entry that identify and name it, tried in turn; of a role, that its collector adds; and JavaScript's own. */
const ofEveryEntry = new Set(["id", "type", "name", "label", "key", "scope", "then", "toJSON"]);

function isKept(path: string, keep: (entry: JsonObject) => JsonObject): boolean {
  const fields = path.split(".");
  const entry = fields.reduceRight<unknown>((inner, field) => ({ [field]: inner }), 1) as JsonObject;
  return ofEveryEntry.has(path) || fields.at(-1) === "toJSON" || JSON.stringify(keep(entry)) === JSON.stringify(entry);
}

/** Calls `see` with each field that is read, `a.b` for one of an inner object. */
function watched(object: JsonObject, see: (field: string) => void, path = ""): JsonObject {
  return new Proxy(object, {
    get(target, field) {
      const value: unknown = Reflect.get(target, field);
      if (typeof field !== "string") return value;
      see(path + field);
      return isJsonObject(value) ? watched(value, see, `${path}${field}.`) : value;
    },
    getOwnPropertyDescriptor(target, field) {
      see(path + String(field));
      return Reflect.getOwnPropertyDescriptor(target, field);
    },
  });
}

function toAnswers(org: Readonly<Record<string, unknown>>): Answers {
  return Object.fromEntries(
    Object.entries(org).map(([path, value]) => [path, value instanceof Refused ? aRefusal(value.status) : value]),
  ) as Answers;
}
