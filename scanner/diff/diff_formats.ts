import type { Diff } from "../../shared/schemas/diff.ts";
import { toJson } from "../reports/json.ts";
import type { Format } from "../reports/report_format.ts";
import { renderText } from "./diff_text.ts";

export const diffFormats: readonly Format<Diff, { readonly width: number }>[] = [
  { name: "text", extension: "txt", render: renderText },
  { name: "json", extension: "json", render: (diff) => `${toJson(diff, 2)}\n` },
];
