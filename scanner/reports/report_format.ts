import type { Report } from "../../shared/report.ts";
import type { Checklist } from "../checklists/checklist.ts";

/** What a format may know beside the report; it reads no clock, no environment and no terminal. */
export interface RenderOptions {
  /** Colour for a terminal; only the table uses it. */
  readonly color: boolean;
  /** Columns of the terminal; only the table uses it. */
  readonly width: number;
  /** Version of scanstream, for the formats that name the tool. */
  readonly toolVersion: string;
  /** One that people worked in, for the checklists to go on with. */
  readonly checklist?: Checklist;
}

/** One way to write a report. */
export interface ReportFormat {
  /** The word of `--format`. */
  readonly name: string;
  /** Of the file that `--output` writes: `scan.<extension>`. */
  readonly extension: string;
  /** Read by programs: alone on stdout, it is the only thing there. */
  readonly isMachine: boolean;
  render(report: Report, options: RenderOptions): string;
}
