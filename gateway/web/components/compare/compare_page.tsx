import { stateOf } from "../../../../shared/report.ts";
import { useEffect, useState } from "preact/hooks";
import {
  findingChangeKinds,
  findingChangeTitles,
  type ComparedVerdict,
  type FindingChange,
  type FindingChangeKind,
} from "../../../../shared/finding_diff.ts";
import type { Api } from "../../model/api.ts";
import { checkTitle, findCheck } from "../../model/check_catalog.ts";
import { compareScans, type ComparedSide, type ScanComparison } from "../../model/compare_scans.ts";
import { toProblem } from "../../model/connection.ts";
import { toChangeRow } from "../../model/export_rows.ts";
import { formatCount, formatOrg, formatTime } from "../../model/format.ts";
import { BackLink, Message, MoreButton, StateTag } from "../basics.tsx";
import { ExportButtons } from "../export_buttons.tsx";
import { useTitle, useZone } from "../hooks.ts";

interface ComparePageProps {
  readonly api: Api;
  readonly beforeId: string;
  readonly afterId: string;
  /** Starts over. */
  readonly onReopen: () => void;
}

type View =
  | { readonly name: "loading" }
  | { readonly name: "failed"; readonly problem: string }
  | { readonly name: "compared"; readonly result: ScanComparison };

/** What differs between two scans of an organization, in the words of `scanstream diff`. */
export function ComparePage({ api, beforeId, afterId, onReopen }: ComparePageProps) {
  useZone();
  const [view, setView] = useState<View>({ name: "loading" });
  useTitle(view.name === "compared" ? `Changes of ${formatOrg(view.result.after)}` : null);
  useEffect(() => {
    const closing = new AbortController();
    compareScans(api, { before: beforeId, after: afterId }, closing.signal).then(
      (result) => setView({ name: "compared", result }),
      (error: unknown) => {
        if (closing.signal.aborted) return;
        setView({ name: "failed", problem: toProblem(error) });
      },
    );
    return () => closing.abort();
  }, [api, beforeId, afterId]);

  return (
    <article class="scan" aria-labelledby="compare-title">
      <header class="scan-head">
        <BackLink />
        <div class="scan-title row wrap">
          <h1 id="compare-title" class="on-each-sheet">
            {toHeading(view)}
          </h1>
        </div>
        <p class="scan-meta text on-each-sheet">{view.name === "compared" && toPeriod(view.result)}</p>
        <div class="scan-actions row wrap">
          {view.name === "compared" && (
            <>
              <a class="button" href={toAddress(view.result.after)}>
                {view.result.after.isMonitor ? "Back to the organization" : "Back to the scan"}
              </a>
              {view.result.comparison !== null && <Exports result={view.result} />}
            </>
          )}
        </div>
      </header>
      {view.name === "failed" && (
        <Message
          level={2}
          title="The gateway did not return both"
          text={view.problem}
          action={{ label: "Try again", run: onReopen }}
        />
      )}
      {view.name === "compared" && <Changes result={view.result} />}
    </article>
  );
}

function Exports({ result: { before, after, comparison } }: { readonly result: ScanComparison }) {
  const facts = { org_url: after.orgUrl, before: before.id, after: after.id };
  const rows = () => (comparison?.changes ?? []).map(toChangeRow);
  return <ExportButtons name="changes" facts={facts} rows={rows} onPrint={() => print()} />;
}

function toHeading(view: View): string {
  if (view.name === "compared") return `Changes of ${formatOrg(view.result.after)}`;
  return view.name === "failed" ? "These scans cannot be compared" : "Loading…";
}

function toPeriod({ before, after }: ScanComparison): string {
  return `${timeOf(before)} → ${timeOf(after)}`;
}

function timeOf({ atMs, id, isMonitor }: ComparedSide): string {
  const time = atMs === null ? id : formatTime(atMs);
  return isMonitor ? `now (monitor, last checked ${time})` : time;
}

function toAddress({ id, isMonitor }: ComparedSide): string {
  return `#/${isMonitor ? "monitors" : "scans"}/${id}`;
}

function Changes({ result: { before, after, comparison } }: { readonly result: ScanComparison }) {
  if (comparison === null) {
    const text = `One side is from ${formatOrg(before)}, the other from ${formatOrg(after)}.`;
    return <Message level={2} title="Two organizations cannot be compared" text={text} />;
  }
  const { changes, notCompared } = comparison;
  return (
    <div class="compare stack">
      {changes.length === 0 && <Message level={2} title="No difference" text="Both sides have the same findings." />}
      {findingChangeKinds.map((kind) => (
        <ChangesOfKind key={kind} kind={kind} found={changes.filter(({ change }) => change === kind)} />
      ))}
      {notCompared.length > 0 && (
        <p class="fine">
          {`Not compared, because only one side evaluated them: ${notCompared.map(({ check }) => checkTitle(check)).join("; ")}`}
        </p>
      )}
    </div>
  );
}

const rowsAtOnce = 500;

function ChangesOfKind({
  kind,
  found,
}: {
  readonly kind: FindingChangeKind;
  readonly found: readonly FindingChange[];
}) {
  const [limit, setLimit] = useState(rowsAtOnce);
  if (found.length === 0) return null;
  const list = { hasMore: found.length > limit, isLoadingMore: false, loadMore: () => setLimit(limit + rowsAtOnce) };
  return (
    <section class="card" aria-labelledby={`compare-${kind}`}>
      <h2 id={`compare-${kind}`}>{`${findingChangeTitles[kind]} (${formatCount(found.length)})`}</h2>
      <ul class="changes">
        {found.slice(0, limit).map((change, index) => (
          <ChangeRow key={index} change={change} />
        ))}
      </ul>
      {list.hasMore && (
        <p class="card-note note">{`${formatCount(limit)} of ${formatCount(found.length)} are shown.`}</p>
      )}
      <MoreButton list={list} label="Show more" />
    </section>
  );
}

function ChangeRow({ change: { check, resource, before, after } }: { readonly change: FindingChange }) {
  return (
    <li class="change stack">
      <span class="change-head row wrap">
        <span class="strong">{resource.name === "" ? "Unnamed resource" : resource.name}</span>
        <span class="fine">
          {[findCheck(check)?.vulnId, resource.id, checkTitle(check)].filter(Boolean).join(" · ")}
        </span>
      </span>
      <span class="change-verdicts row wrap">
        <Verdict verdict={before} />
        <span aria-label="then">→</span>
        <Verdict verdict={after} />
      </span>
    </li>
  );
}

function Verdict({ verdict }: { readonly verdict: ComparedVerdict | null }) {
  if (verdict === null) return <span class="fine">no finding</span>;
  const { reason, actual } = verdict;
  return (
    <>
      <StateTag state={stateOf(verdict)} />
      <span class="text">
        {reason === null || reason === "not_applicable" ? actual : `${reason.replaceAll("_", " ")}: ${actual}`}
      </span>
    </>
  );
}
