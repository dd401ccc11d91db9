import { useMemo } from "preact/hooks";
import { countOf } from "../../../shared/outcome_text.ts";
import { causesOfScan } from "../model/scan_causes.ts";
import type { Finding } from "../model/scan_model.ts";

/** More changes than this are counted. */
const maxListed = 10;

interface CausesProps {
  readonly findings: ReadonlyMap<string, Finding>;
  /** Changes with the findings. */
  readonly frame: number;
}

/** What to change, first what closes most rules. */
export function Causes({ findings, frame }: CausesProps) {
  const { causes, failing, closed } = useMemo(
    () => causesOfScan(findings.values()),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the map changes in place: a frame says that it did
    [findings, frame],
  );
  if (causes.length === 0) return null;
  const left = causes.length - maxListed;
  return (
    <section class="card causes" aria-labelledby="causes-title">
      <h2 id="causes-title">
        {`${causes.length === 1 ? "1 change closes" : `${causes.length} changes close`} ${closed} of ${countOf(failing, "rule")}`}
      </h2>
      <ol class="causes-list">
        {causes.slice(0, maxListed).map(({ id, change, checks, findings: count }) => (
          <li key={id}>
            <p class="text">{change}</p>
            <p class="fine">{`${countOf(checks, "rule")}, ${countOf(count, "finding")} · ${id}`}</p>
          </li>
        ))}
      </ol>
      {left > 0 && <p class="card-note note">{`and ${countOf(left, "more change")}`}</p>}
    </section>
  );
}
