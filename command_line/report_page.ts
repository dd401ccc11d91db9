import { parse } from "valibot";
import { builtIn } from "../scanner/catalog/catalog.ts";
import { portableRenderers } from "../scanner/reports/portable_formats.ts";
import { formatKinds } from "../scanner/reports/report_format.ts";
import { reportSchema } from "../shared/schemas/report.ts";

/** Set by `gateway/web/build.ts`. */
declare const TOOL_VERSION: string;

/**
 * The scanner's report formats for the live page. It joins
 * both halves as the command line does: a script of its own that the page loads when the first report is downloaded
 * (`gateway/web/model/report_files.ts`).
 */
export const reportWriters = Object.entries(portableRenderers).map(([name, render]) => ({
  name,
  extension: formatKinds.find((kind) => kind.name === name)?.extension,
  write(given: unknown) {
    const report = parse(reportSchema, given);
    const { benchmark = builtIn.benchmark.id, scan } = report;
    // Its rules have other texts, which only a file of DISA's holds.
    if (benchmark !== builtIn.benchmark.id)
      throw new RangeError(`it is by ${benchmark}: use scanstream report ${scan.id} --benchmark FILE`);
    return render(report, { color: false, width: 120, toolVersion: TOOL_VERSION, revision: builtIn });
  },
}));
