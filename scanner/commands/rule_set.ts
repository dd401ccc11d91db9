import type { Environment } from "../../command_line/command_io.ts";
import type { CatalogCheck } from "../catalog/catalog.ts";
import { readCompanyRules } from "../decisions/company_rules/company_rules.ts";
import { findRevision, type KnownRevision } from "../revisions/revision_store.ts";

export interface RuleFlags {
  /** Rules of the organization's own, in addition to those of the STIG. */
  readonly checks?: string;
  /** A revision of the STIG, by name or file. */
  readonly benchmark?: string;
}

/** What a command judges by. */
export interface RuleSet {
  readonly revision: KnownRevision;
  /** Those of the revision, and after them the organization's own. */
  readonly checks: readonly CatalogCheck[];
}

/** Throws `UsageError` for a file or a name that cannot be used. */
export async function readRuleSet(flags: RuleFlags, env: Environment): Promise<RuleSet> {
  const revision = await findRevision(flags.benchmark, env);
  const own = flags.checks === undefined ? [] : await readCompanyRules(flags.checks);
  return { revision, checks: [...revision.checks, ...own] };
}
