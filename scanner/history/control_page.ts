import type { HistoryPage, HistoryTable } from "./history_page.ts";
import { durationText, percentText, timeText } from "./history_page.ts";
import type { ControlView } from "./control_view.ts";

type Row = ControlView["organizations"][number]["controls"][number];

const disclaimer =
  "A share indicates how the rules for Okta stood in the known time. It claims no compliance: most of a control is outside Okta.";

/** The view for people. */
export function controlPage(view: ControlView): HistoryPage {
  return {
    title: "Controls (NIST SP 800-53 rev. 5)",
    about: "by the controls that the rules of the STIG name",
    sections: view.organizations.map(({ org_url: title, controls }) => ({
      title,
      lines: [disclaimer, knownLine(controls)],
      tables: [shareTable(controls)],
    })),
  };
}

/** The view says how much time was known: a nightly scan of three seconds is three seconds. */
function knownLine(rows: readonly Row[]): string {
  const known = rows.map(({ daily }) => daily.reduce((sum, { known_seconds: seconds }) => sum + seconds, 0));
  const most = known.length === 0 ? 0 : Math.max(...known);
  return `Shares are of the known time, and not of all time: in the last 30 days at most ${durationText(most)} were known. Unknown time counts as neither.`;
}

function shareTable(rows: readonly Row[]): HistoryTable {
  return {
    caption: "Share of the known time in PASS (UTC days, today included)",
    columns: ["Control", "30 days", "365 days", "Known in 30 days", "Newest proof", "Rules"],
    rows: rows.map((row) => [
      row.control,
      percentText(row.share_30_days),
      percentText(row.share_365_days),
      durationText(row.daily.reduce((sum, { known_seconds: seconds }) => sum + seconds, 0)),
      row.newest_proof_at === null ? "none" : timeText(row.newest_proof_at),
      row.rules.join(" "),
    ]),
  };
}

export function controlRows({ organizations }: ControlView): readonly (readonly string[])[] {
  return organizations.flatMap(({ org_url: orgUrl, controls }) =>
    controls.flatMap((row) =>
      row.daily.map(({ day, share, known_seconds: known }) => [
        orgUrl,
        row.control,
        day,
        share === null ? "" : String(share),
        String(known),
        row.rules.join(" "),
      ]),
    ),
  );
}

export const controlColumns = ["org_url", "control", "day", "share", "known_seconds", "rules"];
