import { createRequire } from "node:module";
import { catalog, ruleFields } from "../../scanner/catalog/catalog.ts";
import type { Report, Status } from "../../shared/report.ts";
import { aCheckResult, aFinding, aReport } from "./report_builders.ts";

/** A report of the whole STIG: PASS, but for the rules that are named by V-id. */
export function reportOf(statuses: Readonly<Record<string, Status>>): Report {
  return aReport(
    catalog.map((check) => {
      const { vuln_id: vulnId } = check.rule;
      const status = statuses[vulnId] ?? "PASS";
      const resource = { type: "policy", id: `id-${vulnId}`, name: `Policy of ${vulnId}` };
      const finding = aFinding({ status, resource, detail: `${resource.name}: examined`, fingerprint: `of-${vulnId}` });
      return aCheckResult({ ...ruleFields(check), findings: [finding] });
    }),
  );
}

export interface ImportedReview {
  readonly ruleId: string;
  readonly result: string;
  readonly detail: string;
  readonly comment: string | null;
  readonly resultEngine: { readonly overrides?: unknown } | null;
}

export interface ImportedChecklists {
  readonly target: {
    readonly name: string;
    readonly fqdn: string | null;
    readonly metadata: Readonly<Record<string, string>>;
  };
  readonly checklists: readonly {
    readonly benchmarkId: string;
    readonly revisionStr: string;
    readonly reviews: readonly ImportedReview[];
  }[];
}

// Its own type file declares no module of this name.
const { reviewsFromCkl, reviewsFromCklb, reviewsFromXccdf } = createRequire(import.meta.url)(
  "@nuwcdivnpt/stig-manager-client-modules",
) as Record<"reviewsFromCkl" | "reviewsFromCklb" | "reviewsFromXccdf", (input: object) => ImportedChecklists>;

/** Reads a file of this format as STIG Manager does. */
export function importToStigManager(format: "cklb" | "ckl" | "xccdf", data: string): ImportedChecklists {
  const input = {
    data,
    fieldSettings: {
      detail: { enabled: "always", required: "always" },
      comment: { enabled: "always", required: "optional" },
    },
    allowAccept: false,
    importOptions: {
      autoStatus: "saved",
      unreviewed: "always",
      unreviewedCommented: "notchecked",
      emptyDetail: "replace",
      emptyComment: "ignore",
      allowCustom: true,
    },
    sourceRef: "test",
  };
  if (format === "cklb") return reviewsFromCklb(input);
  if (format === "ckl") return reviewsFromCkl(input);
  return reviewsFromXccdf({ ...input, scapBenchmarkMap: new Map() });
}
