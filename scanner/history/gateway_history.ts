import * as v from "valibot";
import type { RestClient } from "../../shared/client/gateway_client.ts";
import type { Span } from "../../shared/history/observation.ts";
import { historySchema, type History, type RuleHistory } from "../../shared/schemas/history.ts";
import { originOf } from "../../shared/schemas/web_address.ts";
import { UsageError } from "../../shared/usage_error.ts";
import { listSome } from "../checks/parsing/names.ts";

const organizationSchema = v.object({ id: v.string(), org_url: v.string() });
const historyPage = v.object({ ...historySchema.entries, next_cursor: v.optional(v.nullable(v.string()), null) });

/** Part of a history that a person asks for. */
export interface HistoryQuery {
  /** As the person names it; null: every organization. */
  readonly org: string | null;
  /** Names of checks; null: every rule. */
  readonly rules: ReadonlySet<string> | null;
  readonly period: Span;
}

/** The history that a gateway keeps. Throws `UsageError` for an organization that it does not know, and as its calls do. */
export async function readGatewayHistory(
  gateway: RestClient,
  { org, period, rules }: HistoryQuery,
  signal: AbortSignal,
): Promise<History> {
  const known = await gateway.list("/api/v1/organizations", organizationSchema, { signal });
  const chosen = org === null ? known : chooseOrganizations(org, known);
  const times = { from: new Date(period.from).toISOString(), to: new Date(period.to).toISOString() };
  const organizations: History["organizations"][number][] = [];
  let { to } = times;
  for (const { id, org_url: orgUrl } of chosen) {
    const found: RuleHistory[] = [];
    const path = `/api/v1/organizations/${encodeURIComponent(id)}/history`;
    for (const rule of rules ?? [null]) {
      // A rule is whole on one page.
      const query = { ...times, ...(rule !== null && { rule }) };
      for await (const page of gateway.pages(path, historyPage, { query, signal })) {
        found.push(...page.organizations.flatMap((one) => one.rules));
        // A gateway whose clock is behind ends earlier.
        if (Date.parse(page.to) < Date.parse(to)) to = page.to;
      }
    }
    organizations.push({ id, org_url: orgUrl, rules: found });
  }
  return { schema: "scanstream.history/1", from: times.from, to, organizations };
}

/** The organizations of an id, an address, a host with or without its port, or its first label. Throws `UsageError` without a match. */
export function chooseOrganizations<Known extends { readonly id?: string; readonly org_url: string }>(
  name: string,
  known: readonly Known[],
): readonly Known[] {
  const wanted = name.trim().toLowerCase();
  const found = known.filter(({ id, org_url: orgUrl }) => {
    const host = orgUrl.replace(/^https?:\/\//, "");
    const name = host.replace(/:\d+$/, "");
    return [id, orgUrl, host, name, name.split(".")[0]].includes(wanted) || originOf(wanted) === orgUrl;
  });
  if (found.length > 0) return found;
  const names = known.map((one) => one.org_url);
  const list =
    names.length === 0 ? "the gateway has no organization" : `expected one of ${listSome(names, { most: 10 })}`;
  throw new UsageError([`ORG ${JSON.stringify(name)}: no such organization: ${list}`]);
}
