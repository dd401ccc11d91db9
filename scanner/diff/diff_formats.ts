import type { Diff } from "../../shared/schemas/diff.ts";
import { toJson } from "../reports/json.ts";
import { renderHtml } from "./diff_html.ts";
import { renderMarkdown } from "./diff_markdown.ts";
import { renderTable } from "./diff_table.ts";

/** One way to write a comparison. */
export interface DiffFormat {
  /** The word of `--format`. */
  readonly name: string;
  /** Part of the file that `--output` writes: `diff.<extension>`. */
  readonly extension: string;
  readonly render: (diff: Diff, options: { readonly width: number }) => string;
}

export const diffFormats: readonly DiffFormat[] = [
  { name: "table", extension: "txt", render: renderTable },
  { name: "json", extension: "json", render: (diff) => `${toJson(diff, 2)}\n` },
  { name: "markdown", extension: "md", render: renderMarkdown },
  { name: "html", extension: "html", render: renderHtml },
];
