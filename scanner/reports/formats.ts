import { cklbFormat, cklFormat } from "./checklists.ts";
import { csvFormat } from "./csv.ts";
import { hdfFormat } from "./hdf.ts";
import { htmlFormat } from "./html.ts";
import { jsonFormat } from "./json.ts";
import { junitFormat } from "./junit.ts";
import { markdownFormat } from "./markdown.ts";
import { ocsfFormat } from "./ocsf.ts";
import { oscalFormat } from "./oscal.ts";
import { poamFormat } from "./poam.ts";
import type { ReportFormat } from "./report_format.ts";
import { sarifFormat } from "./sarif.ts";
import { tableFormat } from "./table.ts";
import { xccdfFormat } from "./xccdf.ts";

/** Every format of `--format`, in the order in which help lists them. */
export const reportFormats: readonly ReportFormat[] = [
  tableFormat,
  jsonFormat,
  csvFormat,
  sarifFormat,
  junitFormat,
  ocsfFormat,
  cklbFormat,
  cklFormat,
  hdfFormat,
  xccdfFormat,
  oscalFormat,
  poamFormat,
  htmlFormat,
  markdownFormat,
];
