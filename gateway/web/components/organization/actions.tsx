import type { Scan } from "../../../../shared/schemas/scan.ts";
import { formatTime } from "../../model/format.ts";
import { readReportFile, reportChoices, saveFile } from "../../model/report_files.ts";
import { mayDo, type Session } from "../../model/session.ts";
import { hasEnded } from "../../model/tenant_state.ts";
import { toScanPath } from "../../model/api.ts";
import { Button, ConfirmButton, Problem } from "../basics.tsx";
import { useAction } from "../hooks.ts";

interface ActionsProps {
  readonly session: Session;
  readonly scan: Scan | null;
  readonly running: Scan | null;
  /** The scan whose report is handed over; null: there is none. */
  readonly scanId: string | null;
}

/** The files to hand over, and what a person can do to the scan. */
export function Actions({ session: { api, caller }, scan, running, scanId }: ActionsProps) {
  const { problem: refused, run } = useAction();
  const writing = useAction();
  const problem = writing.problem ?? refused;
  const hasReport = scanId !== null && (scan === null || hasEnded(scan.status));
  return (
    <>
      <div class="row actions">
        {running !== null && mayDo(caller, "register") && (
          <Button
            label={running.cancel_requested ? "Cancelling…" : "Cancel scan"}
            disabled={running.cancel_requested}
            onClick={() =>
              void run("cancel the scan", async (signal) => {
                await api.send("POST", `${toScanPath(running.id)}/cancel`, { signal });
              })
            }
          />
        )}
        {hasReport && (
          <>
            <Button label={writing.isBusy ? "Writing…" : "Download ▾"} popovertarget="download" />
            <div id="download" popover="auto" class="menu stack">
              {scan !== null && <p class="fine">{`Scan of ${formatTime(Date.parse(scan.created_at))}`}</p>}
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
                  onClick={() =>
                    void writing.run("write the report", async (signal) =>
                      saveFile(await readReportFile(api, scanId, { format: name, signal })),
                    )
                  }
                />
              ))}
              <p class="fine">
                For HDF: <code>{`scanstream report ${scanId} --format hdf`}</code>
              </p>
            </div>
          </>
        )}
        {scan !== null && mayDo(caller, "decide") && (
          <>
            <Button label="⋯" aria-label="More" popovertarget="more" />
            <div id="more" popover="auto" class="menu stack">
              <ConfirmButton
                label="Delete scan…"
                title={`Delete the scan of ${formatTime(Date.parse(scan.created_at))}?`}
                text="Its findings and its report are deleted too. This cannot be undone. A scan that is still running stops."
                confirm="Delete for good"
                onConfirm={() =>
                  void run("delete the scan", async (signal) => {
                    await api.send("DELETE", toScanPath(scan.id), { signal });
                    location.hash = "#/";
                  })
                }
              />
            </div>
          </>
        )}
      </div>
      {problem !== null && <Problem text={problem} />}
    </>
  );
}
