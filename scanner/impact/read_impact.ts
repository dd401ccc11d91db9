import type { CommandIo } from "../../command_line/command_io.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { countOf } from "../../shared/outcome_text.ts";
import { readScannerConfig, type ScannerFlags } from "../config.ts";
import type { ArtifactName, CollectedArtifacts } from "../evidence/artifacts.ts";
import type { FixPlan } from "../fix/plan_draft.ts";
import { connect } from "../okta/connection.ts";
import type { ConnectionSettings } from "../okta/connection_settings.ts";
import { IdpError } from "../okta/idp_error.ts";
import { probeRequests } from "../okta/probe_requests.ts";
import { measureImpact, type PlanImpact } from "./impact.ts";

const defaultDays = 30;
const maxDays = 90;

/** The days of `--impact`; null without it. Throws `UsageError` for anything but 1 to 90. */
export function parseImpact(given: string | true | undefined): number | null {
  if (given === undefined) return null;
  if (given === true) return defaultDays;
  const days = /^\d{1,3}$/.test(given) ? Number(given) : 0;
  if (days >= 1 && days <= maxDays) return days;
  throw new UsageError([
    `--impact ${JSON.stringify(given)}: expected a number of days from 1 to ${maxDays}: Okta keeps its System Log for that long`,
  ]);
}

/** The connection whose log is read. Throws `UsageError` where nothing says which org. */
export function readImpactConfig(
  flags: ScannerFlags & { readonly fromArtifacts?: string },
  io: CommandIo,
): ConnectionSettings {
  try {
    return readScannerConfig(flags, io.env);
  } catch (error) {
    if (!(error instanceof UsageError) || flags.fromArtifacts === undefined) throw error;
    throw new UsageError([
      "--impact: the sign-ins are in the org's System Log, and not in the evidence: set IDP_ORG_URL, IDP_CLIENT_ID and IDP_PRIVATE_KEY_FILE too, or leave out --impact",
      ...error.problems,
    ]);
  }
}

/** Reads the log once. What the provider refuses is said, and costs only the impact. */
export async function readImpact(
  { plan, artifacts, days }: { readonly plan: FixPlan; readonly artifacts: CollectedArtifacts; readonly days: number },
  config: ConnectionSettings,
  { io, say }: { readonly io: CommandIo; readonly say: (text: string) => void },
): Promise<PlanImpact> {
  const nowMs = io.now().getTime();
  const measured = { plan, artifacts };
  const period = { days, nowMs };
  try {
    const connection = await connect(
      { ...config, scopes: [...new Set([...config.scopes, "logs.read"])] },
      { signal: io.interrupted, probes: probeRequests(Object.keys(artifacts) as ArtifactName[]), forgetsProbe: true },
    );
    try {
      let said = 0;
      const impact = await measureImpact(measured, period, {
        pages: connection.client,
        onPage(entries) {
          if (entries - said < 10_000) return;
          said = entries;
          say(`Read ${countOf(entries, "sign-in")} of the System Log`);
        },
      });
      if (impact.problem !== null) say(`The System Log was not read to its end: ${impact.problem}`);
      return impact;
    } finally {
      await connection.close();
    }
  } catch (error) {
    if (!(error instanceof IdpError)) throw error;
    const problem = `the System Log could not be read (${error.message})`;
    say(`No impact is shown: ${problem}. It needs the scope okta.logs.read.`);
    const nothing = {
      getPage: () =>
        Promise.resolve({ state: "missing", reason: "missing_scope", detail: problem, partial: null } as const),
    };
    return measureImpact(measured, period, { pages: nothing, onPage: () => {} });
  }
}
