import * as v from "valibot";
import type { GatewayAccess } from "../../command_line/gateway_access.ts";
import { openGateway, problemOf } from "../../shared/client/gateway_client.ts";
import { isExpired } from "../../shared/decisions/expiry.ts";
import { pageOf } from "../../shared/schemas/primitives.ts";
import { decisionEnd, decisionSchema } from "../../shared/schemas/decision.ts";
import { findRule, vulnIdOf, unknownRule, type RuleNames } from "../../shared/rule_names.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { maxDecisions } from "./decision_file.ts";
import { isWaiverInForce, type Decisions } from "./apply_decisions.ts";

/** Time for one page: a gateway that takes longer counts as unavailable. */
const timeoutMs = 15_000;

/** Only what is used: a gateway of another release may answer other fields differently. */
const used = v.pick(decisionSchema, ["kind", "check", "resource", "status", "reason", "by", "org_url"]);
const decision = v.object({ ...used.entries, expires: v.nullable(decisionEnd) });
export type FetchedDecision = v.InferOutput<typeof decision>;

/**
 * The decisions of files with those of the gateway, and a line for each of the latter that does not count here: one on a check that is not
 * known, and one for which a file has its own. `rules`: every rule there is.
 */
export function mergeDecisions(
  files: Decisions,
  gateway: readonly FetchedDecision[],
  { rules, nowMs }: { readonly rules: readonly RuleNames[]; readonly nowMs: number },
): { readonly decisions: Decisions; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const waivers = [...files.waivers];
  const attestations = [...files.attestations];
  const ofFiles = new Set([
    ...waivers.filter((waiver) => isWaiverInForce(waiver, nowMs)).map((waiver) => keyOf("waiver", waiver)),
    ...attestations.filter(({ expires }) => !isExpired(expires, nowMs)).map((own) => keyOf("attestation", own)),
  ]);
  const ofGateway = new Set<string>();
  // One about this organization counts before one about every organization.
  for (const each of gateway.toSorted((a, b) => Number(a.org_url === null) - Number(b.org_url === null))) {
    const { kind, resource, status, reason, expires, by } = each;
    const found = findRule(each.check, rules);
    const check = found?.rule.check ?? each.check;
    const key = keyOf(kind, { check, resource });
    const unknown = found === null ? unknownRule(check, rules, "this scan does not know it") : null;
    const problem = unknown ?? (ofFiles.has(key) ? "--decisions has its own" : null);
    if (problem !== null) {
      const place = resource === null ? "" : ` for ${JSON.stringify(resource)}`;
      warnings.push(`The ${kind} of ${vulnIdOf(check)}${place} by ${by} at the gateway is ignored: ${problem}`);
    } else if (!ofGateway.has(key)) {
      ofGateway.add(key);
      const decided = { check, reason, expires, by, source: "gateway" } as const;
      if (kind === "waiver") waivers.push({ ...decided, resource });
      else if (status !== null) attestations.push({ ...decided, status });
    }
  }
  return { decisions: { ...files, waivers, attestations }, warnings };
}

/**
 * The decisions that hold at the gateway about the organization of the address, and about every one. Throws `UsageError` where they cannot be
 * had, whole: what people waived would fail the run.
 */
export async function fetchDecisions(
  access: GatewayAccess,
  orgUrl: string,
  signal: AbortSignal,
): Promise<readonly FetchedDecision[]> {
  const gateway = openGateway({ ...access, timeoutMs });
  const all: FetchedDecision[] = [];
  const query = { active: "true", org_url: orgUrl, limit: "200" };
  try {
    for await (const { items } of gateway.pages("/api/v1/decisions", pageSchema, { query, signal })) {
      all.push(...items);
      if (all.length > maxDecisions) throw new RangeError(`there are more than ${maxDecisions}`);
    }
  } catch (error) {
    throw new UsageError([`Cannot use --decisions-from-gateway: ${problemOf(error)}`], { cause: error });
  }
  return all;
}

const pageSchema = pageOf(decision);

function keyOf(
  kind: FetchedDecision["kind"],
  { check, resource }: { readonly check: string; readonly resource?: string | null },
): string {
  return JSON.stringify([kind, check, resource ?? null]);
}
