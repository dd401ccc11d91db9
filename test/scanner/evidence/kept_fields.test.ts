import { isJsonObject, type JsonObject } from "../../../shared/json.ts";
import { expect, test } from "vitest";
import { catalog } from "../../../scanner/catalog/catalog.ts";
import { createCollection } from "../../../scanner/evidence/collect.ts";
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
  const reads: string[] = [];
  const generate = createOrgGenerator(createRandom(1));
  for (let number = 0; number < 150; number += 1) {
    let reader = "a collector";
    const report = (field: string, path: string) =>
      reads.push(`${reader} reads "${field}" of ${path}: add it to the fields that the collector keeps`);
    const collection = createCollection(watchedClient(toAnswers(generate()), report));
    for (const check of catalog) {
      reader = "a collector";
      const artifacts = await collection.obtainFor(check);
      reader = check.name;
      evaluateCheck(check, artifacts, context);
    }
  }
  expect([...new Set(reads)]).toEqual([]);
});

/** The fields that are kept of an entry; null: with everything below. */
type Kept = ReadonlyMap<string, Kept | null>;
type Report = (field: string, path: string) => void;

function watchedClient(answers: Answers, report: Report): IdpClient {
  const client = mapIdpClient(answers);
  return {
    getObject: (request) => client.getObject(request),
    async getList(request) {
      const reading = await client.getList(request);
      const kept = request.keep === undefined ? null : keptBy(request.keep);
      if (reading.state !== "obtained" || kept === null) return reading;
      const reportField = (field: string) => report(field, request.path);
      return {
        ...reading,
        value: reading.value.map((entry) =>
          isJsonObject(entry) ? watched(entry, { kept, report: reportField, isEntry: true }) : entry,
        ),
      };
    },
  };
}

/** Fields of any entry that identify and name it, tried in turn. */
const identifying = new Set(["id", "type", "name", "label", "key"]);

interface WatchOptions {
  readonly kept: Kept;
  readonly report: (field: string) => void;
  /** An entry of the list itself, not an object within it. */
  readonly isEntry?: boolean;
}

function watched(entry: JsonObject, { kept, report, isEntry = false }: WatchOptions): JsonObject {
  const see = (field: string | symbol) => {
    if (typeof field !== "string" || field === "toJSON" || kept.has(field)) return;
    if (!isEntry || !identifying.has(field)) report(field);
  };
  return new Proxy(entry, {
    get(target, field) {
      see(field);
      const value: unknown = Reflect.get(target, field);
      const below = typeof field === "string" ? (kept.get(field) ?? null) : null;
      return below !== null && isJsonObject(value) ? watched(value, { kept: below, report }) : value;
    },
    getOwnPropertyDescriptor(target, field) {
      see(field);
      return Reflect.getOwnPropertyDescriptor(target, field);
    },
  });
}

/** Fields that a filter keeps, found out with an entry that has every field; null for one that keeps whatever it does not know. */
function keptBy(keep: (entry: JsonObject) => JsonObject): Kept | null {
  if (Object.hasOwn(keep({ unheard_of: 1 }), "unheard_of")) return null;
  const everything: JsonObject = new Proxy<JsonObject>(
    {},
    {
      get: () => everything,
      getOwnPropertyDescriptor: () => ({ value: everything, configurable: true, enumerable: true }),
    },
  );
  const toKept = (found: JsonObject): Kept =>
    new Map(
      Object.entries(found).map(([field, value]) => [field, value === everything ? null : toKept(value as JsonObject)]),
    );
  return toKept(keep(everything));
}

function toAnswers(org: Readonly<Record<string, unknown>>): Answers {
  return Object.fromEntries(
    Object.entries(org).map(([path, value]) => [path, value instanceof Refused ? aRefusal(value.status) : value]),
  ) as Answers;
}
