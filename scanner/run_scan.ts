import type { CheckResult, Engine, ScanStatus } from "../shared/report.ts";
import type { CollectedArtifacts } from "./evidence/artifacts.ts";
import { artifactsSchema, type ArtifactsDocument } from "./evidence/artifacts_document.ts";
import { withExplanations } from "./explain/evaluation_text.ts";
import type { CatalogCheck } from "./catalog/catalog.ts";
import { firstRequests } from "./evidence/artifact_table.ts";
import { createCollection, type CollectionTrace } from "./evidence/collect.ts";
import { sha256 } from "./digest.ts";
import { ownValues, type OrgPolicy } from "./org_policy/document.ts";
import { evaluateCheck, unevaluatedResult, type EvaluationContext } from "./evaluate.ts";
import type { Connection, ConnectOptions } from "./okta/connection.ts";
import type { RequestTrace } from "./okta/request_sender.ts";

/** Callbacks for the timing of `--verbose`. */
export interface ScanTrace extends RequestTrace, CollectionTrace {
  evaluated(check: string, ms: number): void;
}

/** The I/O of a scan, which callers and tests provide. */
export interface ScanParts {
  /** Logs in and probes. Rejects with `IdpError` when the credentials cannot read: then no check is evaluated (V3). */
  readonly connect: (options: ConnectOptions) => Promise<Connection>;
  /** Called for each check as soon as it is evaluated. */
  readonly onResult: (result: CheckResult) => void;
  readonly now: () => Date;
  readonly trace?: ScanTrace | undefined;
}

export interface ScanPlan {
  readonly orgUrl: string;
  readonly clientId: string;
  readonly checks: readonly CatalogCheck[];
  /** The organization's own document; null: none. */
  readonly orgPolicy: OrgPolicy | null;
  /** Interrupts the scan; results so far are kept. */
  readonly signal: AbortSignal;
}

export interface FinishedScan {
  readonly status: ScanStatus;
  /** Exactly one for each check of the plan, in its order (V2). */
  readonly results: readonly CheckResult[];
  readonly document: ArtifactsDocument;
}

/** Problem of a rule that an interrupted scan did not reach. */
export const interrupted = {
  reason: "interrupted",
  detail: "The scan was interrupted before this check was evaluated",
} as const;

/** One scan: connect and probe, collect artifacts, evaluate each check as soon as its own artifacts are there. */
export async function runScan(plan: ScanPlan, parts: ScanParts): Promise<FinishedScan> {
  const { checks, signal } = plan;
  const startedAt = parts.now().toISOString();
  const probes = firstRequests(checks.flatMap((check) => check.artifacts));
  const connection = await unlessAborted(parts.connect({ signal, probes, trace: parts.trace }), signal);
  const engine = connection?.org.engine ?? "unknown";
  const context = toContext({ ...plan, engine, evaluatedAt: startedAt });
  const collectionOptions = { signal, values: context, trace: parts.trace, now: parts.now };
  const collection = connection === null ? null : createCollection(connection.client, collectionOptions);
  const evaluated = new Map<CatalogCheck, CheckResult>();

  try {
    await Promise.all(checks.map(evaluate));
  } finally {
    await connection?.sender.close();
  }

  return {
    status: evaluated.size < checks.length ? "cancelled" : "completed",
    results: checks.map((check) => evaluated.get(check) ?? unevaluatedResult(check, interrupted, context)),
    document: {
      schema: artifactsSchema,
      scan: {
        org_url: plan.orgUrl,
        client_id: plan.clientId,
        engine,
        started_at: startedAt,
        ended_at: parts.now().toISOString(),
        requested_scopes: connection?.client.login.requested ?? [],
        granted_scopes: connection?.client.login.granted ?? [],
        role: connection?.client.role ?? "unknown",
        requests: connection?.sender.counters() ?? { total: 0, retried: 0, throttled_ms: 0 },
      },
      evaluated_at: startedAt,
      checks: checks.map((check) => check.name),
      artifacts: collection?.artifacts() ?? {},
    },
  };

  async function evaluate(check: CatalogCheck): Promise<void> {
    if (collection === null || (await unlessAborted(collection.obtainFor(check), signal)) === null) return;
    const result = evaluateTraced(check, collection.artifacts(), { context, trace: parts.trace });
    evaluated.set(check, result);
    parts.onResult(result);
  }
}

export function evaluateTraced(
  check: CatalogCheck,
  artifacts: CollectedArtifacts,
  { context, trace }: { readonly context: EvaluationContext; readonly trace: ScanTrace | undefined },
): CheckResult {
  const startedAtMs = trace?.nowMs() ?? 0;
  const result = withExplanations(check, evaluateCheck(check, artifacts, context), { artifacts, values: context });
  trace?.evaluated(check.name, trace.nowMs() - startedAtMs);
  return result;
}

/** The context of evaluation, the same online and offline. */
export function toContext(facts: {
  readonly engine: Engine;
  readonly evaluatedAt: string;
  readonly orgUrl: string;
  readonly orgPolicy: OrgPolicy | null;
}): EvaluationContext {
  const { engine, evaluatedAt, orgUrl, orgPolicy } = facts;
  return { engine, evaluatedAt, orgUrl, digest: sha256, ...ownValues(orgPolicy, evaluatedAt) };
}

/** Null when the work was interrupted; every other failure is thrown. */
export async function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value | null> {
  try {
    return await promise;
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}
