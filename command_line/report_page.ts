import { parse } from "valibot";
import { builtIn } from "../scanner/catalog/catalog.ts";
import { cklbFormat, cklFormat } from "../scanner/reports/checklists.ts";
import { csvFormat } from "../scanner/reports/csv.ts";
import { htmlFormat } from "../scanner/reports/html.ts";
import { jsonFormat } from "../scanner/reports/json.ts";
import { junitFormat } from "../scanner/reports/junit.ts";
import { markdownFormat } from "../scanner/reports/markdown.ts";
import { ocsfFormat } from "../scanner/reports/ocsf.ts";
import { oscalFormat } from "../scanner/reports/oscal.ts";
import { poamFormat } from "../scanner/reports/poam.ts";
import { sarifFormat } from "../scanner/reports/sarif.ts";
import { xccdfFormat } from "../scanner/reports/xccdf.ts";
import { reportSchema } from "../shared/schemas/report.ts";

/** Set by `gateway/web/build.ts`. */
declare const TOOL_VERSION: string;

const formats = [
  htmlFormat,
  markdownFormat,
  csvFormat,
  jsonFormat,
  cklbFormat,
  cklFormat,
  xccdfFormat,
  oscalFormat,
  poamFormat,
  ocsfFormat,
  sarifFormat,
  junitFormat,
];

/**
 * The scanner's report formats for the live page: all but the terminal's table, and HDF, which needs Node's digests. It joins
 * both halves as the command line does: a script of its own that the page loads when the first report is downloaded
 * (`gateway/web/model/report_files.ts`).
 */
export const reportWriters = formats.map((format) => ({
  name: format.name,
  extension: format.extension,
  write(given: unknown) {
    const report = parse(reportSchema, given);
    const { benchmark = builtIn.benchmark.id, scan } = report;
    // Its rules have other texts, which only a file of DISA's holds.
    if (benchmark !== builtIn.benchmark.id)
      throw new RangeError(`it is by ${benchmark}: use scanstream report ${scan.id} --benchmark FILE`);
    return format.render(report, { color: false, width: 120, toolVersion: TOOL_VERSION, revision: builtIn });
  },
}));
