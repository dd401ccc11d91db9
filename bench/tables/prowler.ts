import { prowlerProfiles, type ProwlerFigures, type ScannerFigures } from "../peers/prowler.ts";
import { hasResult, machineText, readResult } from "./results.ts";

/** For the orgs that were measured. */
export async function prowlerSection(): Promise<string> {
  const names = Object.entries(prowlerProfiles).filter(([name]) => hasResult(name));
  const results = await Promise.all(
    names.map(async ([name, profile]) => ({ profile, ...(await readResult<ProwlerFigures>(name)) })),
  );
  const [first] = results;
  if (first === undefined) throw new Error("Cannot write the tables: no org was scanned");
  const head = [
    "| org | scanner | wall | CPU | requests | peak memory | checks | findings | verdicts unlike ours |",
    "|---|---|---|---|---|---|---|---|---|",
  ];
  const rows = results.flatMap(({ profile, figures }) => rowsOf(profile, figures));
  return [`${machineText(first)}.`, [...head, ...rows].join("\n")].join("\n\n");
}

function rowsOf(profile: string, scanners: ProwlerFigures): readonly string[] {
  const ours = scanners["scanstream"];
  if (ours === undefined || "stoppedAfterMs" in ours)
    throw new TypeError(`The figures of ${profile} have no row of this project`);
  return Object.entries(scanners).map(([name, figures]) => {
    const cells =
      "stoppedAfterMs" in figures
        ? [`stopped after ${secondsText(figures.stoppedAfterMs / 1000)}`, "", `${whole(figures.requests)} by then`]
        : cellsOf(figures, ours);
    return `| \`${profile}\` | ${[name, ...cells, ...Array<string>(7 - cells.length).fill("")].join(" | ")} |`;
  });
}

function cellsOf(figures: ScannerFigures, ours: ScannerFigures): readonly string[] {
  const { wallMs, cpuMs, requests, maxRssMiB, findings, verdicts } = figures;
  const unlike = Object.keys(ours.verdicts).filter((check) => verdicts[check] !== ours.verdicts[check]);
  return [
    secondsText(wallMs / 1000),
    secondsText(cpuMs / 1000),
    whole(requests),
    `${maxRssMiB} MiB`,
    String(Object.keys(verdicts).length),
    whole(findings),
    figures === ours ? "" : String(unlike.length),
  ];
}

function secondsText(seconds: number): string {
  return seconds < 100 ? `${seconds.toFixed(seconds < 10 ? 2 : 1)} s` : `${(seconds / 60).toFixed(0)} min`;
}

function whole(value: number): string {
  return value.toLocaleString("en-US");
}
