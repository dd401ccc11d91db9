import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { publishCredentials } from "../practice_org/auth/credentials.ts";
import { createPracticeOrg, type PracticeOrg } from "../practice_org/create_practice_org.ts";
import { parseProfile } from "../practice_org/contents/profile.ts";
import type { Report } from "../shared/report.ts";
import { builtPackage } from "../test/support/built_package.ts";
import { temporaryFolder } from "../test/support/temporary_folder.ts";
import { buildPackage } from "../tools/build.ts";
import { runMeasured } from "./measured_process.ts";
import { text, type Table } from "./report.ts";
import { startTlsProxy } from "./tls_proxy.ts";

interface Measured {
  /** The whole command. */
  readonly wallMs: number;
  /** That of all its threads: other work of the machine changes it least. */
  readonly cpuMs: number;
  readonly maxRssMiB: number;
  readonly findings: number;
}

const timeoutSeconds = 900;

/** Prowler takes names of the provider's domains only. */
const host = "practice.okta.com";

/** Each is a separate bench, because the largest takes minutes. */
export const scanBenches: Readonly<Record<string, (progress: Progress) => Promise<Table>>> = {
  scan: (progress) => benchScan(progress, "typical"),
  scan_2000: (progress) => benchScan(progress, "large:2000"),
  scan_10000: (progress) => benchScan(progress, "large:10000"),
};

type Progress = (line: string) => void;

/** The scanner and Prowler on the same org, one run each, by way of the same proxy. */
async function benchScan(progress: Progress, profile: string): Promise<Table> {
  await buildPackage(builtPackage);
  const scanners: Record<string, Scan> = { scanstream: runOurs };
  const python = process.env["PROWLER_PYTHON"];
  if (python === undefined) progress("Prowler: left out: set PROWLER_PYTHON to the Python that has prowler==5.46.0");
  // It sends four requests a second if it is not told otherwise: the larger orgs would take far longer than a bench may.
  else if (profile === "typical") scanners["Prowler"] = (run) => runProwler(python, run, []);
  else
    scanners["Prowler without its rate limit"] = (run) => runProwler(python, run, ["--okta-requests-per-second", "0"]);
  const rows: (readonly string[])[] = [];
  for (const [name, scan] of Object.entries(scanners)) {
    const { measured, requests } = await withOrg(profile, scan);
    if (measured === null) {
      const stopped = `stopped after ${timeoutSeconds / 60} min`;
      rows.push([profile, name, stopped, "", `${text.whole(requests)} by then`, "", ""]);
      continue;
    }
    const { wallMs, cpuMs, maxRssMiB, findings } = measured;
    const used = [text.seconds(wallMs / 1000), text.seconds(cpuMs / 1000), text.whole(requests), `${maxRssMiB} MiB`];
    rows.push([profile, name, ...used, text.whole(findings)]);
  }
  return { head: ["org", "scanner", "wall", "CPU", "requests", "peak memory", "findings"], rows };
}

/** Null: it took too long. */
type Scan = (run: Run) => Promise<Measured | null>;

interface Run {
  readonly org: PracticeOrg;
  readonly folder: string;
  readonly privateKeyFile: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** The org answers at once and has no limit of requests: what counts is what a scanner takes by itself, and how many it sends. */
async function withOrg(profile: string, scan: Scan) {
  await using temporary = await temporaryFolder();
  const folder = temporary.path;
  const rateLimit = { perWindow: 1_000_000, windowSeconds: 60, buckets: {} };
  const publicUrl = `https://${host}`;
  const org = await createPracticeOrg({ profile: parseProfile(profile), role: "super", rateLimit, publicUrl });
  const proxy = await startTlsProxy(host, folder, org.port);
  try {
    const { privateKeyFile } = await publishCredentials(org, folder);
    const measured = await scan({ org, folder, privateKeyFile, environment: proxy.environment });
    return { measured, requests: proxy.requests() };
  } finally {
    proxy.stop();
    await org.stop();
  }
}

async function runOurs({ org, folder, privateKeyFile, environment }: Run): Promise<Measured | null> {
  const scan = [join(builtPackage, "scanstream.js"), "scan", "--quiet", "--fail-on", "never"];
  const used = await runMeasured({
    command: [process.execPath, ...scan, "--format", "json", "--output", folder],
    cwd: folder,
    env: {
      IDP_ORG_URL: org.url,
      IDP_CLIENT_ID: org.clientId,
      IDP_PRIVATE_KEY_FILE: privateKeyFile,
      ...environment,
    },
    exitCodes: [0],
    timeoutSeconds,
  });
  if (used === null) return null;
  const { checks } = JSON.parse(await readFile(join(folder, "scan.json"), "utf8")) as Report;
  return { ...used, findings: checks.flatMap(({ findings }) => findings).length };
}

async function runProwler(python: string, run: Run, args: readonly string[]): Promise<Measured | null> {
  const output = join(run.folder, "prowler");
  await mkdir(output);
  const used = await runMeasured({
    command: [python, "-m", "prowler", "okta", "--no-banner", "--output-directory", output, ...args],
    cwd: run.folder,
    env: {
      OKTA_ORG_DOMAIN: host,
      OKTA_CLIENT_ID: run.org.clientId,
      OKTA_PRIVATE_KEY_FILE: run.privateKeyFile,
      ...run.environment,
    },
    // 3: a check failed.
    exitCodes: [0, 3],
    timeoutSeconds,
  });
  if (used === null) return null;
  const file = (await readdir(output)).find((name) => name.endsWith(".ocsf.json"));
  if (file === undefined) throw new Error("Prowler wrote no findings");
  const findings = JSON.parse(await readFile(join(output, file), "utf8")) as readonly unknown[];
  return { ...used, findings: findings.length };
}
