import { useState } from "preact/hooks";
import type { Scan } from "../../../../shared/schemas/scan.ts";
import { GatewayRefusal } from "../../../../shared/client/rest_client.ts";
import { toProblem } from "../../model/connection.ts";
import { mayDo } from "../../model/permissions.ts";
import { readReportFile, reportChoices, saveFile, type ReportFormatName } from "../../model/report_files.ts";
import type { Session } from "../../model/session.ts";
import { hasEnded } from "../../model/tenant_state.ts";
import { toScanPath } from "../../model/paths.ts";
import { Button, ConfirmDialog, CopyButton } from "../basics.tsx";
import { useLifetime } from "../hooks.ts";

interface ActionsProps {
  readonly session: Session;
  readonly scan: Scan | null;
  readonly running: Scan | null;
  /** The scan whose report is handed over; null: there is none. */
  readonly scanId: string | null;
  readonly onProblem: (problem: string | null) => void;
}

/** The files to hand over, and what a person can do to the scan. */
export function Actions({ session, scan, running, scanId, onProblem }: ActionsProps) {
  const { api, caller } = session;
  const [isWriting, setWriting] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const signal = useLifetime();

  async function run(work: () => Promise<unknown>, toText: (error: unknown) => string): Promise<void> {
    onProblem(null);
    try {
      await work();
    } catch (error) {
      if (!signal.aborted) onProblem(toText(error));
    }
  }

  async function download(id: string, format: ReportFormatName): Promise<void> {
    setWriting(true);
    await run(
      async () => saveFile(await readReportFile(api, id, { format, signal })),
      (error) => toReportProblem(error, id),
    );
    setWriting(false);
  }

  const hasReport = scanId !== null && (scan === null || hasEnded(scan.status));
  return (
    <div class="row actions">
      {running !== null && mayDo(caller, "register") && (
        <Button
          label={running.cancel_requested ? "Cancelling…" : "Cancel scan"}
          disabled={running.cancel_requested}
          onClick={() =>
            void run(
              () => api.send("POST", `${toScanPath(running.id)}/cancel`, { signal }),
              (error) => `The scan could not be cancelled: ${toProblem(error)}`,
            )
          }
        />
      )}
      {hasReport && (
        <>
          <Button label={isWriting ? "Writing…" : "Download ▾"} popovertarget="download" />
          <div id="download" popover="auto" class="menu stack">
            {reportChoices.map(({ name, label, purpose }) => (
              <Button
                key={name}
                label={
                  <>
                    {label}
                    <span class="fine">{purpose}</span>
                  </>
                }
                popovertarget="download"
                onClick={() => void download(scanId, name)}
              />
            ))}
            <p class="fine">
              For HDF: <code>{`scanstream report ${scanId} --format hdf`}</code>
            </p>
          </div>
        </>
      )}
      <Button label="⋯" aria-label="More" popovertarget="more" />
      <div id="more" popover="auto" class="menu stack">
        <CopyButton label="Copy link" getText={() => location.href} />
        {scan !== null && mayDo(caller, "decide") && (
          <Button label="Delete scan…" popovertarget="more" onClick={() => setDeleting(true)} />
        )}
      </div>
      {isDeleting && scan !== null && (
        <ConfirmDialog
          title="Delete this scan?"
          text="Its findings and its report are deleted too. This cannot be undone. A scan that is still running stops."
          confirm="Delete for good"
          onConfirm={() =>
            void run(
              async () => {
                await api.send("DELETE", toScanPath(scan.id), { signal });
                location.hash = "#/";
              },
              (error) => `The scan was not deleted: ${toProblem(error)}`,
            )
          }
          onClose={() => setDeleting(false)}
        />
      )}
    </div>
  );
}

function toReportProblem(error: unknown, scanId: string): string {
  if (error instanceof GatewayRefusal && error.httpStatus === 404) return "No report was uploaded for this scan.";
  const reason =
    error instanceof GatewayRefusal ? error.message : "it, or the script of its formats, could not be loaded";
  return `The report could not be read: ${reason}. To write it, run scanstream report ${scanId}.`;
}
