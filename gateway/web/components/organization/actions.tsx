import { useState } from "preact/hooks";
import type { Scan } from "../../../../shared/schemas/scan.ts";
import { ApiError } from "../../model/api.ts";
import { toProblem } from "../../model/connection.ts";
import { mayDo } from "../../model/permissions.ts";
import { readReportFile, reportChoices, saveFile, type ReportFormatName } from "../../model/report_files.ts";
import type { Session } from "../../model/session.ts";
import { hasEnded } from "../../model/tenant_state.ts";
import { toScanPath } from "../../model/paths.ts";
import { ConfirmDialog, CopyButton } from "../basics.tsx";
import { useLifetime } from "../hooks.ts";

interface ActionsProps {
  readonly session: Session;
  readonly orgUrl: string | null;
  readonly scan: Scan | null;
  readonly running: Scan | null;
  /** The scan whose report is handed over; null: there is none. */
  readonly scanId: string | null;
  readonly onProblem: (problem: string | null) => void;
}

/** The files to hand over, and what a person can do to the scan. */
export function Actions({ session, orgUrl, scan, running, scanId, onProblem }: ActionsProps) {
  const { api, caller } = session;
  const [busy, setBusy] = useState<ReportFormatName | null>(null);
  const [isDeleting, setDeleting] = useState(false);
  const signal = useLifetime();

  async function run(what: string, work: () => Promise<unknown>): Promise<void> {
    onProblem(null);
    try {
      await work();
    } catch (error) {
      if (!signal.aborted) onProblem(`${what}: ${toProblem(error)}`);
    }
  }

  async function download(id: string, format: ReportFormatName): Promise<void> {
    setBusy(format);
    onProblem(null);
    try {
      saveFile(await readReportFile(api, id, { format, signal }));
    } catch (error) {
      if (!signal.aborted) onProblem(toReportProblem(error, id));
    }
    setBusy(null);
  }

  const adminUrl = toAdminUrl(orgUrl);
  const hasReport = scanId !== null && (scan === null || hasEnded(scan.status));
  return (
    <div class="row actions">
      {running !== null && mayDo(caller, "register") && (
        <button
          type="button"
          class="button"
          disabled={running.cancel_requested}
          onClick={() =>
            void run("The scan could not be cancelled", () =>
              api.send("POST", `${toScanPath(running.id)}/cancel`, { signal }),
            )
          }
        >
          {running.cancel_requested ? "Cancelling…" : "Cancel scan"}
        </button>
      )}
      {hasReport && (
        <>
          <button type="button" class="button" {...{ popovertarget: "download" }}>
            {busy === null ? "Download ▾" : "Writing…"}
          </button>
          <div id="download" popover="auto" class="menu stack">
            {reportChoices.map(({ name, label, title }) => (
              <button
                key={name}
                type="button"
                class="button"
                disabled={busy !== null}
                {...{ popovertarget: "download" }}
                onClick={() => void download(scanId, name)}
              >
                {label}
                <span class="fine">{title}</span>
              </button>
            ))}
          </div>
        </>
      )}
      <button type="button" class="button" aria-label="More" {...{ popovertarget: "more" }}>
        ⋯
      </button>
      <div id="more" popover="auto" class="menu stack">
        <CopyButton label="Copy link" getText={() => location.href} />
        {adminUrl !== null && (
          <a class="button" href={adminUrl} target="_blank" rel="noreferrer noopener">
            Open in Okta ↗
          </a>
        )}
        {scan !== null && mayDo(caller, "decide") && (
          <button type="button" class="button" {...{ popovertarget: "more" }} onClick={() => setDeleting(true)}>
            Delete scan…
          </button>
        )}
      </div>
      {isDeleting && scan !== null && (
        <ConfirmDialog
          title="Delete this scan?"
          text="Its findings and its report are deleted too. This cannot be undone. A scan that is still running stops."
          confirm="Delete for good"
          onConfirm={() =>
            void run("The scan was not deleted", async () => {
              await api.send("DELETE", toScanPath(scan.id), { signal });
              location.hash = "#/";
            })
          }
          onClose={() => setDeleting(false)}
        />
      )}
    </div>
  );
}

/** The Admin Console of an org at one of Okta's own domains; null for a custom domain, which does not say its name. */
function toAdminUrl(orgUrl: string | null): string | null {
  const [, name, domain] = /^https:\/\/([\w-]+)\.(okta|oktapreview|okta-emea|okta-gov)\.com$/.exec(orgUrl ?? "") ?? [];
  return name === undefined ? null : `https://${name}-admin.${domain}.com/`;
}

function toReportProblem(error: unknown, scanId: string): string {
  if (error instanceof ApiError && error.status === 404) return "No report was uploaded for this scan.";
  const reason = error instanceof ApiError ? error.message : "its formats could not be loaded";
  return `The report could not be read: ${reason}. To write it, run scanstream report ${scanId}.`;
}
