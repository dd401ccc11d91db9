import { jsonFormat } from "./json.ts";
import type { ReportFormat } from "./report_format.ts";
import { tableFormat } from "./table.ts";

/** Every format of `--format`, in the order in which help lists them. */
export const reportFormats: readonly ReportFormat[] = [tableFormat, jsonFormat];
