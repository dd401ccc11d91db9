import { toJson } from "./json.ts";
import { isFindingShown, type ReportFormat } from "./report_format.ts";

/** One finding a line, each with its scan and check, for log pipelines and `jq`. */
export const ndjsonFormat: ReportFormat = {
  name: "ndjson",
  extension: "ndjson",
  isMachine: true,
  render({ scan, checks }, options) {
    const about = { scan_id: scan.id, tenant_id: scan.tenant_id, org_url: scan.org_url, ended_at: scan.ended_at };
    const lines = checks.flatMap(({ findings, status, reason, detail: _detail, ...check }) =>
      findings
        .filter((finding) => isFindingShown(finding, options))
        .map((finding) => toJson({ ...about, ...check, check_status: status, check_reason: reason, ...finding })),
    );
    return lines.map((line) => `${line}\n`).join("");
  },
};
