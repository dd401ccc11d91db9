import { ruleHistoryOf } from "../../shared/history/rule_history.ts";
import type { Span } from "../../shared/history/source.ts";
import type { History } from "../../shared/schemas/history.ts";
import { checksOf, sourcesOf, vulnIdOf, type HistoryInput } from "./history_input.ts";

/** The history that the files of a folder give. `rules`: checks to show even where nothing is known of them; null: every one that is known. */
export function computeHistory(input: HistoryInput, period: Span, rules: ReadonlySet<string> | null): History {
  return {
    schema: "scanstream.history/1",
    from: new Date(period.from).toISOString(),
    to: new Date(period.to).toISOString(),
    organizations: input.organizations().map((organization) => ({
      org_url: organization.orgUrl,
      rules: [...(rules ?? checksOf(organization))].map((check) =>
        ruleHistoryOf({
          check,
          vulnId: vulnIdOf(check, organization),
          sources: sourcesOf(check, organization),
          period,
        }),
      ),
    })),
  };
}
