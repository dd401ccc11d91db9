import { useEffect, useState } from "preact/hooks";
import { ApiError, type Api } from "../model/api.ts";
import { toProblem } from "../model/connection.ts";
import { ConfirmDialog } from "./settings/parts.tsx";
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
    return "No report was uploaded for this scan.";
  }
  const reason = error instanceof ApiError ? error.message : "its formats could not be loaded";
  return `The report could not be read: ${reason}. To write it, run scanstream report ${scanId}.`;
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
      onProblem(`The scan was not deleted: ${toProblem(error)}`);
      setStep("offered");
    }
  }

  return (
    <>
      <button
        type="button"
        class="button button-small inked tone-fail"
        disabled={step === "deleting"}
        onClick={() => setStep("confirming")}
      >
        {step === "deleting" ? "Deleting…" : "Delete scan"}
      </button>
      {step === "confirming" && (
        <ConfirmDialog
          title="Delete this scan?"
          text="Its findings and its report are deleted too. This cannot be undone. A scan that is still running stops."
          confirm="Delete for good"
          onConfirm={() => void remove()}
          onClose={() => setStep((current) => (current === "confirming" ? "offered" : current))}
        />
      )}
    </>
  );
}

/** Aborts when the component is gone. */
function useLifetime(): AbortSignal {
  const [closing] = useState(() => new AbortController());
  useEffect(() => () => closing.abort(), [closing]);
  return closing.signal;
}
