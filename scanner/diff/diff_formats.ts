import type { Diff } from "../../shared/schemas/diff.ts";
import { toJson } from "../reports/json.ts";
import type { Format } from "../reports/report_format.ts";
import { renderTable } from "./diff_table.ts";

export const diffFormats: readonly Format<Diff, { readonly width: number }>[] = [
  { name: "table", extension: "txt", render: renderTable },
  { name: "json", extension: "json", render: (diff) => `${toJson(diff, 2)}\n` },
];
