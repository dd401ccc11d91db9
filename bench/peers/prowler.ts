import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { publishCredentials } from "../../practice_org/auth/credentials.ts";
import { createPracticeOrg, type PracticeOrg } from "../../practice_org/create_practice_org.ts";
import { parseProfile } from "../../practice_org/profiles/profile.ts";
import { worstStatus, type Report, type Status } from "../../shared/report.ts";
import { runMeasured } from "../measured_command.ts";
import { runScanCommand } from "../scan.ts";
import { findPeer, peersFolder } from "./folder.ts";
import { startTlsProxy } from "./tls_proxy.ts";

export interface ScannerFigures {
  /** The whole command. */
  readonly wallMs: number;
  /** That reached the org, those for a token included. */
  readonly requests: number;
  readonly maxRssMiB: number;
  readonly findings: number;
  /** The worst status among the findings of each check. Both name their checks alike. */
  readonly verdicts: Readonly<Record<string, string>>;
}

/** By the name of the profile, then of the scanner. */
export type ProwlerFigures = Readonly<Record<string, Readonly<Record<string, ScannerFigures>>>>;

/** It sends at most so many requests a second, if it is not told otherwise: with more apps that alone is many minutes. */
export const prowlerDefaultPace = 4;
export const unpaced = "Prowler, its own pace off";
const profiles = [
  { profile: "typical", isAtDefaultPace: true },
  { profile: "large:2000", isAtDefaultPace: false },
  { profile: "large:10000", isAtDefaultPace: false },
];
/** Prowler takes names of the provider's domains only. */
const host = "practice.okta.com";

/** As `prowler` runs, and then says how much memory it used at most. */
const prowlerProgram = `
import atexit, resource, sys
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
atexit.register(lambda: print(f"peak memory {peak()} KiB", file=sys.stderr))
from prowler.__main__ import prowler
sys.exit(prowler())
`;

/** The scanner and Prowler on the same org, one run each, by way of the same proxy. */
export async function benchProwler(say: (line: string) => void): Promise<ProwlerFigures> {
  const python = findPeer("prowler/bin/python");
  if (python === null) say(`Prowler: left out: it is not in ${peersFolder}: node bench/peers/install.ts`);
  const figures: Record<string, Record<string, ScannerFigures>> = {};
  for (const { profile, isAtDefaultPace } of profiles) {
    const scanners: Record<string, Scan> = { scanstream: runOurs };
    if (python !== null) {
      if (isAtDefaultPace) scanners["Prowler"] = (run) => runProwler(python, run, []);
      scanners[unpaced] = (run) => runProwler(python, run, ["--okta-requests-per-second", "0"]);
    }
    const measured: Record<string, ScannerFigures> = {};
    figures[profile] = measured;
    for (const [name, scan] of Object.entries(scanners)) {
      const figure = await withOrg(profile, scan);
      measured[name] = figure;
      const { wallMs, requests, maxRssMiB, verdicts, findings } = figure;
      say(
        `${profile}, ${name}: ${(wallMs / 1000).toFixed(2)} s, ${requests} requests, ${maxRssMiB} MiB, ` +
          `${Object.keys(verdicts).length} checks, ${findings} findings`,
      );
    }
  }
  return figures;
}

type Scan = (run: Run) => Promise<Measured>;

interface Run {
  readonly org: PracticeOrg;
  readonly folder: string;
  readonly privateKeyFile: string;
  readonly environment: Readonly<Record<string, string>>;
}

type Measured = Omit<ScannerFigures, "requests">;

/** The org answers at once and has no limit of requests: what counts is what a scanner takes by itself, and how many it sends. */
async function withOrg(profile: string, scan: Scan): Promise<ScannerFigures> {
  const folder = await mkdtemp(join(tmpdir(), "scanstream-prowler-"));
  const rateLimit = { perWindow: 1_000_000, windowSeconds: 60, buckets: {} };
  const publicUrl = `https://${host}`;
  const org = await createPracticeOrg({ profile: parseProfile(profile), role: "super", rateLimit, publicUrl });
  const proxy = await startTlsProxy(host, folder, org.port);
  try {
    const { privateKeyFile } = await publishCredentials(org, folder);
    const measured = await scan({ org, folder, privateKeyFile, environment: proxy.environment });
    return { ...measured, requests: org.requests.length };
  } finally {
    await proxy.stop();
    await org.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function runOurs({ org, folder, privateKeyFile, environment }: Run): Promise<Measured> {
  const used = await runScanCommand(org, folder, { privateKeyFile, env: environment });
  const { checks } = JSON.parse(await readFile(join(folder, "scan.json"), "utf8")) as Report;
  const verdicts = Object.fromEntries(checks.map(({ check, status }) => [check, status]));
  return { ...used, findings: checks.flatMap(({ findings }) => findings).length, verdicts };
}

async function runProwler(python: string, run: Run, args: readonly string[]): Promise<Measured> {
  const output = join(run.folder, "prowler");
  await mkdir(output);
  const used = await runMeasured({
    command: [python, "-c", prowlerProgram, "okta", "--no-banner", "--output-directory", output, ...args],
    env: {
      PATH: process.env["PATH"],
      HOME: run.folder,
      OKTA_ORG_DOMAIN: host,
      OKTA_CLIENT_ID: run.org.clientId,
      OKTA_PRIVATE_KEY_FILE: run.privateKeyFile,
      ...run.environment,
    },
    // 3: a check failed.
    exitCodes: [0, 3],
  });
  const file = (await readdir(output)).find((name) => name.endsWith(".ocsf.json"));
  if (file === undefined) throw new Error("Prowler wrote no findings");
  const findings = JSON.parse(await readFile(join(output, file), "utf8")) as readonly {
    readonly metadata: { readonly event_code: string };
    readonly status_code: Status;
  }[];
  const byCheck = Object.groupBy(findings, ({ metadata }) => metadata.event_code);
  const verdicts = Object.fromEntries(
    Object.entries(byCheck).map(([check, each = []]) => [
      check,
      worstStatus(each.map(({ status_code }) => status_code)),
    ]),
  );
  return { ...used, findings: findings.length, verdicts };
}
