import { prowlerDefaultPace, unpaced, type ProwlerFigures, type ScannerFigures } from "../peers/prowler.ts";
import { machineText, readResult } from "./results.ts";

export async function prowlerSection(): Promise<string> {
  const result = await readResult<ProwlerFigures>("prowler");
  const rows = Object.entries(result.figures).flatMap(([profile, scanners]) => rowsOf(profile, scanners));
  const head = [
    "| org | scanner | wall | requests | peak memory | checks | findings | verdicts unlike ours |",
    "|---|---|---|---|---|---|---|---|",
  ];
  return [`${machineText(result)}.`, [...head, ...rows].join("\n")].join("\n\n");
}

function rowsOf(profile: string, scanners: Readonly<Record<string, ScannerFigures>>): readonly string[] {
  const ours = scanners["scanstream"];
  if (ours === undefined) throw new TypeError(`The figures of ${profile} have none of ours`);
  const rows = Object.entries(scanners).map(([name, figures]) => {
    const { wallMs, requests, maxRssMiB, findings, verdicts } = figures;
    const checks = Object.keys(ours.verdicts);
    const unlike = checks.filter((check) => verdicts[check] !== ours.verdicts[check]).length;
    const cells = [secondsText(wallMs / 1000), whole(requests), `${maxRssMiB} MiB`, Object.keys(verdicts).length];
    return `| \`${profile}\` | ${name} | ${cells.join(" | ")} | ${whole(findings)} | ${figures === ours ? "" : unlike} |`;
  });
  const requests = scanners[unpaced]?.requests;
  if ("Prowler" in scanners || requests === undefined) return rows;
  const least = requests / prowlerDefaultPace;
  return [
    ...rows,
    `| \`${profile}\` | Prowler | not run: at least ${secondsText(least)} for as many requests | | | | | |`,
  ];
}

function secondsText(seconds: number): string {
  return seconds < 100 ? `${seconds.toFixed(seconds < 10 ? 2 : 1)} s` : `${(seconds / 60).toFixed(0)} min`;
}

function whole(value: number): string {
  return value.toLocaleString("en-US");
}
