import { hash } from "node:crypto";
import { createRandom } from "../support/random.ts";
import { tokenPath, type Answering } from "./answers.ts";
import { faultNames, familyOf, withoutCursor, type Fault } from "./faults.ts";
import { answering, createOrgGenerator } from "./generated_orgs.ts";
import type { RecordedOrg } from "./recorded_orgs.ts";

/** These meet each fault on every family of paths, the token endpoint's too; each other one meets each fault on one path, drawn. */
const thorough = ["compliant/super", "typical/super", "edge/super"];

const generatedOrgs = 2000;
const seed = 20_261_121;

export function faultsOf({ name, answers }: RecordedOrg): readonly Fault[] {
  const paths = [...answers.keys()].toSorted();
  const random = createRandom(seedOf(name));
  const drawn = [...new Set(paths.map(withoutCursor))].filter((path) => path.startsWith("/api/v1/"));
  const families = thorough.includes(name) ? [...new Set([...paths, tokenPath].map(familyOf))] : [];
  return faultNames.flatMap((fault) => [
    ...families.map((at) => ({ name: fault, at })),
    { name: fault, at: drawn[Math.floor(random() * drawn.length)] ?? "" },
  ]);
}

/** The same ones in every run. Built from objects of our own: see `generated_orgs.ts`. */
export function* generateOrgs(): Generator<Answering> {
  const generate = createOrgGenerator(createRandom(seed));
  for (let number = 0; number < generatedOrgs; number++) {
    yield answering(generate());
  }
}

function seedOf(name: string): number {
  return Number.parseInt(hash("sha256", name).slice(0, 8), 16);
}
