import { useEffect, useMemo, useState } from "preact/hooks";
import { countOf } from "../../../shared/outcome_text.ts";
import { listAllFindings, type Api } from "../model/api.ts";
import type { DecisionIndex } from "../model/decisions/decision_index.ts";
import { formatTime } from "../model/format.ts";
import { causesOfScan, withCauses } from "../model/scan_causes.ts";
import type { Finding } from "../model/scan_model.ts";
import type { FindingRecord } from "../scan_wire.ts";

/** The other changes are folded, and listed up to a bound. */
const listedFirst = 3;
const maxListed = 200;

interface CausesProps {
  readonly findings: { values(): Iterable<Finding> };
  /** Changes with the findings. */
  readonly frame: number;
  readonly decisions: DecisionIndex;
  readonly note?: string;
}

/** What to change, first what closes most rules. */
export function Causes({ findings, frame, decisions, note }: CausesProps) {
  const { headline, causes } = useMemo(
    () => causesOfScan(findings.values(), decisions),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the map changes in place: a frame says that it did
    [findings, frame, decisions],
  );
  if (causes.length === 0) return null;
  const others = causes.slice(listedFirst, maxListed);
  return (
    <section class="card causes" aria-labelledby="causes-title">
      <h2 id="causes-title">{headline}</h2>
      <CauseList causes={causes.slice(0, listedFirst)} start={1} />
      {others.length > 0 && (
        <details>
          <summary class="text">{countOf(causes.length - listedFirst, "more change")}</summary>
          <CauseList causes={others} start={listedFirst + 1} />
          {causes.length > maxListed && (
            <p class="card-note note">{`The first ${maxListed} are listed: make them, then scan again.`}</p>
          )}
        </details>
      )}
      {note !== undefined && <p class="card-note note">{note}</p>}
    </section>
  );
}

function CauseList(props: { readonly causes: ReturnType<typeof causesOfScan>["causes"]; readonly start: number }) {
  return (
    <ol class="causes-list" start={props.start}>
      {props.causes.map(({ id, change, closes }) => (
        <li key={id}>
          <p class="text">{change}</p>
          <p class="fine">{`${closes} · ${id}`}</p>
        </li>
      ))}
    </ol>
  );
}

/** The last scan of an organization that a monitor follows. */
type LastScan =
  | { readonly name: "loading" | "none" | "failed" }
  | { readonly name: "read"; readonly atMs: number | null; readonly findings: readonly FindingRecord[] };

/** `scanId` is null: there is none. */
export function useLastScan(api: Api, scanId: string | null): LastScan {
  const [lastScan, setLastScan] = useState<LastScan>({ name: scanId === null ? "none" : "loading" });
  useEffect(() => {
    if (scanId === null) return undefined;
    const closing = new AbortController();
    const { signal } = closing;
    Promise.all([api.getScan(scanId, signal), listAllFindings(api, scanId, signal)]).then(
      ([{ createdAtMs: atMs }, findings]) => setLastScan({ name: "read", atMs, findings }),
      () => {
        if (!signal.aborted) setLastScan({ name: "failed" });
      },
    );
    return () => closing.abort();
  }, [api, scanId]);
  return lastScan;
}

/** For what a monitor sees failing now, as far as the last scan names a cause of it. */
export function LastScanCauses({
  lastScan,
  findings,
  frame,
  decisions,
}: CausesProps & { readonly lastScan: LastScan }) {
  const explained = useMemo(
    () => (lastScan.name === "read" ? withCauses(findings.values(), lastScan.findings) : []),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the map changes in place: a frame says that it did
    [findings, frame, lastScan],
  );
  if (lastScan.name === "failed") return <p class="note">The causes that the last scan found could not be read.</p>;
  if (lastScan.name !== "read") return null;
  const time = lastScan.atMs === null ? "" : ` of ${formatTime(lastScan.atMs)}`;
  return (
    <Causes
      findings={explained}
      frame={frame}
      decisions={decisions}
      note={`For what fails now, as far as the last scan${time} explains it.`}
    />
  );
}
