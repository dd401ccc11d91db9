import type { ComponentChild } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import type { Caller } from "../caller_wire.ts";
import type { Api } from "../model/api.ts";
import { revisionText } from "../model/check_catalog.ts";
import { mayDo } from "../model/caller.ts";
import { hasTried, toProblem, type Connection } from "../model/connection.ts";
import type { DecisionStore } from "../model/decisions/decision_store.ts";
import { formatCount, formatDuration, formatOrg, formatTime, statusWords } from "../model/format.ts";
import { followScan, type ScanFollower } from "../model/scan_follower.ts";
import { countChecks, type CheckCounts } from "../model/scan_model.ts";
import { isEnded, type Scan } from "../scan_wire.ts";
import { BackLink, Message, ScanBadge } from "./basics.tsx";
import { Announcement, ConnectionState } from "./connection.tsx";
import { Causes } from "./causes.tsx";
import { Checks, chooseRule } from "./checks.tsx";
import { useDeciding } from "./decisions/use_deciding.tsx";
import { Findings } from "./findings.tsx";
import { useFindingAddress, useIsLate, useNow, useStore, useTitle, useZone } from "./hooks.ts";
import { Progress, toProgressText } from "./progress.tsx";
import { DeleteButton, ReportDownload } from "./scan_actions.tsx";

const manyFindings = 1000;
const manyFindingsPauseMs = 120;

interface ScanPageProps {
  readonly api: Api;
  readonly caller: Caller;
  readonly scanId: string;
  /** Somebody has deleted it since the page was opened. */
  readonly isDeleted: boolean;
  readonly decisions: DecisionStore;
  /** Called with what is known of the scan whenever that changed. */
  readonly onScan: (scan: Scan) => void;
  /** Starts over with this scan. */
  readonly onReopen: () => void;
  /** Content of the page between the present state and the findings. */
  readonly more?: ComponentChild;
}

/** One scan, followed while it is shown. */
export function ScanPage(props: ScanPageProps) {
  const { api, caller, scanId, isDeleted, decisions, onScan, onReopen, more } = props;
  const [follower, frame] = useStore(
    (onChange) => followScan(api, scanId, onChange),
    ({ model }) => (model.findings.size > manyFindings ? manyFindingsPauseMs : 0),
  );
  const { model, connection } = follower;
  const { scan } = model;
  const address = useFindingAddress();
  const { filter } = address;
  const [problem, setProblem] = useState<string | null>(null);
  const orgUrl = scan?.orgUrl ?? null;
  const { index, onDecide, dialog } = useDeciding({ api, caller, decisions, orgUrl, findings: model.findings });
  const counts = scan === null ? null : countChecks(model, scan);
  const isFailed = scan === null && connection.state === "failed";
  const isShown = useIsLate() || hasTried(connection);
  useTitle(scan === null || counts === null ? null : toTitle(scan, counts));
  useLayoutEffect(() => scrollTo(0, 0), []);
  useEffect(() => {
    if (scan !== null && counts !== null) onScan(withCounts(scan, counts));
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the model changes in place: a frame says that it did
  }, [frame]);

  const isOver = scan !== null && isEnded(scan.status);
  useEffect(() => {
    // An event does not say what would close its finding.
    if (isOver && follower.model.isIncomplete) follower.fill();
  }, [isOver, follower]);

  // On the line of the reports once there are any.
  const deleteButton = mayDo(caller, "decide") && <DeleteButton api={api} scanId={scanId} onProblem={setProblem} />;
  if (isDeleted) {
    return (
      <Message
        level={1}
        title="This scan was deleted"
        text="Its findings and its report were deleted with it."
        action={{ label: "All scans", run: () => (location.hash = "#/") }}
      />
    );
  }
  return (
    <article class="scan" aria-labelledby="scan-title">
      <header class="scan-head">
        <BackLink />
        <div class="scan-title row wrap">
          <h1 id="scan-title">
            {scan !== null ? formatOrg(scan) : isFailed ? "This scan cannot be shown" : "Loading…"}
          </h1>
          {scan !== null && <ScanBadge status={scan.status} />}
        </div>
        <p class="scan-meta text">{scan !== null && <ScanFacts scan={scan} nowMs={api.nowMs} />}</p>
        <div class="scan-actions row wrap">
          <ConnectionState
            connection={connection}
            retryNow={connection.state === "failed" ? onReopen : follower.retryNow}
          />
          {mayDo(caller, "register") && scan !== null && !isEnded(scan.status) && (
            <CancelButton follower={follower} isRequested={scan.cancelRequested} onProblem={setProblem} />
          )}
          {scan !== null && !isEnded(scan.status) && deleteButton}
        </div>
      </header>
      {isOver && (
        <div class="scan-tools row wrap">
          <ReportDownload api={api} scanId={scanId} onProblem={setProblem} />
          {deleteButton}
        </div>
      )}
      <p class="problem tinted tone-fail" role="alert">
        {problem}
      </p>
      {model.problems.length > 0 && (
        <ul class="scan-problems stack">
          {model.problems.map(({ code, detail }, index) => (
            <li key={index} class="problem tinted tone-manual">
              {detail === "" ? code : detail}
            </li>
          ))}
        </ul>
      )}
      <Announcement text={scan === null || counts === null ? "" : toAnnouncement(scan, counts)} />
      {isFailed && (
        <Message
          level={2}
          title="The gateway refused the request"
          text={connection.problem ?? "It did not say why."}
          action={{ label: "Try again", run: onReopen }}
        />
      )}
      {scan !== null && counts !== null && (
        <div class="scan-content">
          <Progress model={model} scan={scan} counts={counts} />
          {!isShown && <p role="status">Loading findings…</p>}
          {isShown && isEnded(scan.status) && <Causes findings={model.findings} frame={frame} decisions={index} />}
          {isShown && more}
          {isShown && (
            <div class="split">
              <Checks
                checks={[...model.checks.values()]}
                isWorstFirst={isEnded(scan.status)}
                note={toChecksNote(model.checks.size, scan, counts)}
                chosen={filter.check}
                choose={(check) => chooseRule(address, check)}
                decisions={index}
              />
              <Findings
                findings={model.findings}
                frame={frame}
                emptyText={toEmptyText(scan, connection)}
                address={address}
                readText={toReadText(scan)}
                onOpen={follower.fill}
                decisions={index}
                decisionStore={decisions}
                onDecide={onDecide}
              />
            </div>
          )}
        </div>
      )}
      {dialog}
    </article>
  );
}

function withCounts(scan: Scan, { pass, fail, manual, not_applicable: notApplicable }: CheckCounts): Scan {
  return { ...scan, pass, fail, manual, notApplicable };
}

/** About checks that are not in the list. */
function toChecksNote(shown: number, scan: Scan, { done }: CheckCounts): string {
  const total = Math.max(scan.checksTotal, done);
  const isOver = isEnded(scan.status);
  const parts: string[] = [];
  if (done > shown) parts.push(`${formatCount(done - shown)} finished without findings in this list`);
  if (total > done) parts.push(`${formatCount(total - done)} ${isOver ? "not evaluated" : "still to come"}`);
  if (parts.length === 0 && shown === 0) return isOver ? "No check was evaluated." : "Waiting for the first check…";
  return parts.join(" · ");
}

/** A scan that was not read has no findings that could be counted. */
function toEmptyText(scan: Scan, { refetchedAtMs, problem }: Connection): string {
  if (refetchedAtMs === null) return problem === null ? "Loading findings…" : "The findings could not be read yet.";
  return isEnded(scan.status) ? "This scan has no findings." : "Findings appear here as the scan makes them.";
}

function toReadText({ startedAtMs, endedAtMs }: Scan): string {
  if (startedAtMs === null) return "By this scan";
  const start = formatTime(startedAtMs);
  return endedAtMs === null ? `By this scan, from ${start} on` : `By this scan, ${start} to ${formatTime(endedAtMs)}`;
}

function toTitle(scan: Scan, { done }: CheckCounts): string {
  const state = isEnded(scan.status) ? statusWords[scan.status] : `${done}/${scan.checksTotal}`;
  return `${state} · ${formatOrg(scan)}`;
}

function toAnnouncement(scan: Scan, counts: CheckCounts): string {
  const text = toProgressText(counts, Math.max(scan.checksTotal, counts.done));
  return isEnded(scan.status) ? `Scan ${statusWords[scan.status].toLowerCase()}. ${text}` : text;
}

/** When it ran, for how long, and as which client. */
function ScanFacts({ scan, nowMs }: { readonly scan: Scan; readonly nowMs: () => number }) {
  useNow();
  useZone();
  const parts: string[] = [];
  const startedAtMs = scan.startedAtMs ?? scan.createdAtMs;
  if (startedAtMs !== null) {
    parts.push(`${scan.status === "pending" ? "Registered" : "Started"} ${formatTime(startedAtMs)}`);
    if (scan.status === "running") parts.push(`running for ${formatDuration(nowMs() - startedAtMs)}`);
    if (scan.endedAtMs !== null) parts.push(`took ${formatDuration(scan.endedAtMs - startedAtMs)}`);
  }
  const revision = revisionText(scan.benchmark);
  if (revision !== null) parts.push(revision);
  if (scan.clientId !== null && scan.clientId !== "") parts.push(`client ${scan.clientId}`);
  return <>{parts.join(" · ")}</>;
}

function CancelButton(props: {
  readonly follower: ScanFollower;
  readonly isRequested: boolean;
  readonly onProblem: (problem: string | null) => void;
}) {
  const { follower, isRequested, onProblem } = props;
  const [isAsking, setAsking] = useState(false);

  async function cancel(): Promise<void> {
    setAsking(true);
    onProblem(null);
    try {
      await follower.cancel();
    } catch (error) {
      onProblem(`The scan could not be cancelled: ${toProblem(error)}`);
    }
    setAsking(false);
  }

  return (
    <button
      type="button"
      class="button inked tone-fail"
      disabled={isAsking || isRequested}
      onClick={() => void cancel()}
    >
      {isRequested ? "Cancelling…" : isAsking ? "Asking…" : "Cancel scan"}
    </button>
  );
}
