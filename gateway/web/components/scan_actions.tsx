import { useEffect, useState } from "preact/hooks";
import { ApiError, type Api } from "../model/api.ts";
import { readReportFile, reportChoices, saveFile, type ReportFormatName } from "../model/report_files.ts";

interface ActionProps {
  readonly api: Api;
  readonly scanId: string;
  /** One line for the person; null: nothing is wrong. */
  readonly onProblem: (problem: string | null) => void;
}

/** Writes the stored report in the browser, where the person keeps it. */
export function ReportDownload({ api, scanId, onProblem }: ActionProps) {
  const [busy, setBusy] = useState<ReportFormatName | null>(null);
  const signal = useLifetime();

  async function download(format: ReportFormatName): Promise<void> {
    setBusy(format);
    onProblem(null);
    try {
      saveFile(await readReportFile(api, scanId, { format, signal }));
    } catch (error) {
      if (signal.aborted) return;
      onProblem(toReportProblem(error, scanId));
    }
    setBusy(null);
  }

  return (
    <div class="row wrap" role="group" aria-labelledby="report-label">
      <span id="report-label">Report</span>
      {reportChoices.map(({ name, label, title }) => (
        <button
          key={name}
          type="button"
          class="button button-small"
          title={title}
          disabled={busy !== null}
          onClick={() => void download(name)}
        >
          {busy === name ? "Writing…" : label}
        </button>
      ))}
    </div>
  );
}

function toReportProblem(error: unknown, scanId: string): string {
  if (error instanceof ApiError && error.status === 404) {
    return "No report of this scan is stored: scanners of before stored none, and one that lost the gateway says so.";
  }
  const reason = error instanceof ApiError ? error.message : "its formats could not be loaded";
  return `The report could not be read: ${reason}. scanstream report ${scanId} writes it, too.`;
}

/** Asked twice: nothing brings a scan back. */
export function DeleteButton({ api, scanId, onProblem }: ActionProps) {
  const [step, setStep] = useState<"offered" | "confirming" | "deleting">("offered");
  const signal = useLifetime();

  async function remove(): Promise<void> {
    setStep("deleting");
    onProblem(null);
    try {
      await api.deleteScan(scanId, signal);
      location.hash = "#/";
    } catch (error) {
      if (signal.aborted) return;
      onProblem(
        `The scan was not deleted: ${error instanceof ApiError ? error.message : "the answer could not be read"}`,
      );
      setStep("offered");
    }
  }

  if (step === "offered") {
    return (
      <button type="button" class="button button-quiet" onClick={() => setStep("confirming")}>
        Delete…
      </button>
    );
  }
  return (
    <div class="row wrap" role="group" aria-label="Delete this scan">
      <span>With its findings and its report?</span>
      <button type="button" class="button inked tone-fail" disabled={step === "deleting"} onClick={() => void remove()}>
        {step === "deleting" ? "Deleting…" : "Delete for good"}
      </button>
      <button type="button" class="button" disabled={step === "deleting"} onClick={() => setStep("offered")}>
        Keep it
      </button>
    </div>
  );
}

/** Aborts when the component is gone. */
function useLifetime(): AbortSignal {
  const [closing] = useState(() => new AbortController());
  useEffect(() => () => closing.abort(), [closing]);
  return closing.signal;
}
