import type { ReportFormat } from "./report_format.ts";

/** The report as it is: schema `scanstream.report/1` (`shared/report.schema.json`). */
export const jsonFormat: ReportFormat = {
  name: "json",
  extension: "json",
  isMachine: true,
  render: (report) => `${JSON.stringify(report, null, 2)}\n`,
};
