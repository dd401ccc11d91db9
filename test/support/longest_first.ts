import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Measured on two cores: half a minute and more. One that begins last keeps a whole run waiting on one core. */
const longest =
  /\/(?:web\/(?:every_view|browsers|session_renewal|limits|hostile_data|page|decisions|monitors|issuer_sign_in)|tools\/new|faults\/scan|edge\/(?:deno|workerd)|attacks\/(?:hostile_answers|hostile_pages|regular_expressions|shares|slow_heads)|e2e\/(?:failing_files|failing_streams|footprint|setup|start)|lint\/recipes|scanner\/evidence_matrix)\.test\.ts$/;

/** In a fresh clone nothing is known of how long a file takes, and its size says little. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ project, moduleId }: TestSpecification) =>
      project.name === "fast" ? 0 : longest.test(moduleId) ? 1 : 2;
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}
