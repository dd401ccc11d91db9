import type { Check } from "../checks/check.ts";
import type { OwnValues } from "../org_policy/document.ts";
import type { ArtifactName, CollectedArtifacts } from "./artifacts.ts";

/**
 * The artifacts that a check reads: the ones it declares, and the ones that it asks for because of them, by the STIG's values and by
 * those of the organization's document.
 */
export function artifactsReadBy(
  check: Check,
  all: CollectedArtifacts,
  values: OwnValues = {},
): readonly ArtifactName[] {
  const names = new Set<ArtifactName>(check.artifacts);
  if (check.artifacts.some((name) => all[name] === undefined)) return [...names];
  try {
    // A conditional artifact may depend on the ones before.
    for (let size = 0; size < names.size;) {
      size = names.size;
      const read = Object.fromEntries([...names].map((name) => [name, all[name]]));
      for (const name of check.conditionalArtifacts(read, values)) names.add(name);
      for (const name of check.conditionalArtifacts(read, {})) names.add(name);
    }
  } catch {
    // Such evidence makes the check itself fail, whose result says so.
  }
  return [...names];
}
