import type { HistoryPage, HistoryTable } from "./history_page.ts";
import { durationText, percentText, timeText } from "./history_page.ts";
import { ksiNames, rulesVersion, type ControlView, type KsiView } from "./ksi.ts";

type Row =
  | KsiView["organizations"][number]["indicators"][number]
  | ControlView["organizations"][number]["controls"][number];

const disclaimer =
  "A share indicates how the rules for Okta stood in the known time. It claims no compliance: most of an indicator or control is outside Okta.";

/** Both views for people. */
export function ksiPage(view: KsiView | ControlView): HistoryPage {
  const isKsi = view.schema === "scanstream.ksi/1";
  return {
    title: isKsi ? "Key Security Indicators (FedRAMP 20x)" : "Controls (NIST SP 800-53 rev. 5)",
    about: isKsi
      ? `mapped by control with the FedRAMP consolidated rules ${rulesVersion}`
      : "by the controls that the rules of the STIG name",
    sections: view.organizations.map((organization) => {
      const rows: readonly Row[] = "indicators" in organization ? organization.indicators : organization.controls;
      return { title: organization.org_url, lines: [disclaimer, knownLine(rows)], tables: [shareTable(rows, isKsi)] };
    }),
  };
}

/** The view says how much time was known: a nightly scan of three seconds is three seconds. */
function knownLine(rows: readonly Row[]): string {
  const known = rows.map(({ daily }) => daily.reduce((sum, { known_seconds: seconds }) => sum + seconds, 0));
  const most = known.length === 0 ? 0 : Math.max(...known);
  return `Shares are of the known time, and not of all time: in the last 30 days at most ${durationText(most)} were known. Unknown time counts as neither.`;
}

function shareTable(rows: readonly Row[], isKsi: boolean): HistoryTable {
  return {
    caption: "Share of the known time in PASS (UTC days, today included)",
    columns: [
      isKsi ? "Indicator" : "Control",
      ...(isKsi ? ["Name"] : []),
      "30 days",
      "365 days",
      "Known in 30 days",
      "Newest proof",
      "Rules",
    ],
    rows: rows.map((row) => [
      "ksi" in row ? row.ksi : row.control,
      ...("ksi" in row ? [ksiNames.get(row.ksi) ?? ""] : []),
      percentText(row.share_30_days),
      percentText(row.share_365_days),
      durationText(row.daily.reduce((sum, { known_seconds: seconds }) => sum + seconds, 0)),
      row.newest_proof_at === null ? "none" : timeText(row.newest_proof_at),
      row.rules.join(" "),
    ]),
  };
}

export function ksiRows(view: KsiView | ControlView): readonly (readonly string[])[] {
  return view.organizations.flatMap((organization) => {
    const rows: readonly Row[] = "indicators" in organization ? organization.indicators : organization.controls;
    return rows.flatMap((row) =>
      row.daily.map(({ day, share, known_seconds: known }) => [
        organization.org_url,
        "ksi" in row ? row.ksi : row.control,
        day,
        share === null ? "" : String(share),
        String(known),
        row.rules.join(" "),
      ]),
    );
  });
}

export const ksiColumns = ["org_url", "indicator", "day", "share", "known_seconds", "rules"];
