import { renderCkl, renderCklb } from "./checklists.ts";
import { renderCsv } from "./csv.ts";
import { renderHtml } from "./html.ts";
import { renderJson, type FormatName, type Renderer } from "./report_format.ts";
import { renderJunit } from "./junit.ts";
import { renderMarkdown } from "./markdown.ts";
import { renderOcsf } from "./ocsf.ts";
import { renderOscal } from "./oscal.ts";
import { renderPoam } from "./poam.ts";
import { renderSarif } from "./sarif.ts";
import { renderXccdf } from "./xccdf.ts";

/** All formats that a browser can write: not the terminal's table, and not HDF, which needs Node's digests. */
export const portableRenderers = {
  json: renderJson,
  csv: renderCsv,
  sarif: renderSarif,
  junit: renderJunit,
  ocsf: renderOcsf,
  cklb: renderCklb,
  ckl: renderCkl,
  xccdf: renderXccdf,
  oscal: renderOscal,
  poam: renderPoam,
  html: renderHtml,
  markdown: renderMarkdown,
} satisfies Partial<Record<FormatName, Renderer>>;
