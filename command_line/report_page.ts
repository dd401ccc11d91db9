import { cklbFormat } from "../scanner/reports/checklists.ts";
import { csvFormat } from "../scanner/reports/csv.ts";
import { htmlFormat } from "../scanner/reports/html.ts";
import { jsonFormat } from "../scanner/reports/json.ts";
import { parse } from "valibot";
import { reportSchema } from "../shared/schemas/report.ts";

/** Set by `gateway/web/build.ts`. */
declare const TOOL_VERSION: string;

/**
 * The scanner's report formats that people ask of the live page. It joins both halves as the command line does: a script of its
 * own that the page loads when the first report is downloaded (`gateway/web/model/report_files.ts`).
 */
export const reportWriters = [htmlFormat, cklbFormat, csvFormat, jsonFormat].map((format) => ({
  name: format.name,
  extension: format.extension,
  write: (report: unknown) =>
    format.render(parse(reportSchema, report), { color: false, width: 120, toolVersion: TOOL_VERSION }),
}));
