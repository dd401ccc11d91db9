import type { StartFigures } from "../start.ts";
import { figureTable, loadText, machineText, readResult } from "./results.ts";

export async function startSection(): Promise<string> {
  const { figures, ...run } = await readResult<StartFigures>("start");
  const { servers, commands, package: published, loads } = figures;
  return [
    `${machineText(run)}; ${loadText(loads)}.`,
    [
      "| | ready after | resident |",
      "|---|---|---|",
      ...Object.entries(servers).map(
        ([name, { readyMs, residentMiB }]) => `| ${name} | ${readyMs.toFixed(0)} ms | ${residentMiB.toFixed(0)} MiB |`,
      ),
    ].join("\n"),
    figureTable([
      ...Object.entries(commands).map(([name, ms]) => [name, `${ms.toFixed(0)} ms`] as const),
      ["install of the tarball", `${published.installSeconds.toFixed(1)} s, one package`],
      ["tarball", `${published.tarballMB.toFixed(1)} MB, installed ${published.installedMB.toFixed(1)} MB`],
      ["build and pack", `${published.packSeconds.toFixed(1)} s`],
    ]),
  ].join("\n\n");
}
