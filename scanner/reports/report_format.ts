import type { Report } from "../../shared/report.ts";
import type { RuleState } from "../../shared/rule_result.ts";
import type { Revision } from "../catalog/catalog.ts";
import type { Checklist } from "../checklists/checklist.ts";

/** Everything that a format may know besides the report; it reads no clock, no environment and no terminal. */
export interface RenderOptions {
  /** Colour for a terminal; only the table uses it. */
  readonly color: boolean;
  /** Columns of the terminal; only the table uses it. */
  readonly width: number;
  /** Only what fits one screen; only the table uses it. Absent: everything. */
  readonly isBrief?: boolean;
  /** Version of scanstream, for the formats that name the tool. */
  readonly toolVersion: string;
  /** Documents for people list only rules of these states, CSV only such findings; absent: all. */
  readonly states?: readonly RuleState[];
  /** A plan of action has a line for each finding; absent: for each rule with its plan. */
  readonly isPlanPerFinding?: boolean;
  /** The revision of the STIG that the report was judged by. */
  readonly revision: Revision;
  /** One that people worked in, for the checklists to go on with. */
  readonly checklist?: Checklist;
}

/** One way to write a document. */
export interface Format<Document, Options> {
  /** The word of `--format`. */
  readonly name: string;
  /** The extension of the file that `--output` writes: `scan.<extension>`. */
  readonly extension: string;
  render(document: Document, options: Options): string;
}

/** The formats of `--format`, in the order in which help lists them. `isMachine`: alone on stdout, it is the only thing there. */
export const formatKinds = [
  { name: "table", extension: "txt", isMachine: false },
  { name: "json", extension: "json", isMachine: true },
  { name: "csv", extension: "csv", isMachine: true },
  { name: "sarif", extension: "sarif", isMachine: true },
  { name: "junit", extension: "junit.xml", isMachine: true },
  { name: "ocsf", extension: "ocsf.json", isMachine: true },
  { name: "cklb", extension: "cklb", isMachine: true },
  { name: "ckl", extension: "ckl", isMachine: true },
  { name: "hdf", extension: "hdf.json", isMachine: true },
  { name: "xccdf", extension: "xccdf.xml", isMachine: true },
  { name: "oscal", extension: "oscal.json", isMachine: true },
  { name: "poam", extension: "poam.csv", isMachine: true },
  { name: "html", extension: "html", isMachine: false },
  { name: "markdown", extension: "md", isMachine: false },
] as const;

export type FormatName = (typeof formatKinds)[number]["name"];
export type Renderer = Format<Report, RenderOptions>["render"];
