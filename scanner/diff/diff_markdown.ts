import { findingChangeKinds, findingChangeTitles } from "../../shared/finding_diff.ts";
import type { Diff } from "../../shared/schemas/diff.ts";
import { markdownCell, markdownText } from "../reports/markdown_text.ts";
import {
  concernText,
  fieldMove,
  limitLines,
  objectChangeTitles,
  objectTitle,
  sidesText,
  summaryText,
  verdictMove,
} from "./diff_text.ts";

/** Changes that are listed before "and N more": a pull request's page takes no more than some thousand lines. */
const maxListed = 500;

/** For pull requests and wikis. */
export function renderMarkdown(diff: Diff): string {
  const { findings, objects } = diff;
  const ordered = findingChangeKinds.flatMap((kind) => findings.filter(({ change }) => change === kind));
  const limits = limitLines(diff);
  return [
    `# Changes of ${markdownText(diff.after.org_url)}`,
    "",
    markdownText(sidesText(diff)),
    "",
    `**${summaryText(diff)}**`,
    "",
    ...(ordered.length === 0
      ? []
      : [
          "| change | check | resource | verdict |",
          "|---|---|---|---|",
          ...ordered
            .slice(0, maxListed)
            .map(
              ({ change, check, resource, before, after }) =>
                `| ${findingChangeTitles[change]} | ${markdownCell(check)} | ${markdownCell(resource.name)} | ${markdownCell(verdictMove(before, after))} |`,
            ),
          ...moreThan(ordered.length),
          "",
        ]),
    ...(objects === null || objects.length === 0
      ? []
      : [
          "## Configuration",
          "",
          ...objects
            .slice(0, maxListed)
            .flatMap((object) => [
              `- ${objectChangeTitles[object.change]}: ${markdownText(objectTitle(object))}${object.change === "changed" ? "" : ` (${markdownText(concernText(object.checks))})`}`,
              ...object.fields.map(
                (field) => `  - ${markdownText(fieldMove(field))} (${markdownText(concernText(field.checks))})`,
              ),
            ]),
          ...moreThan(objects.length),
          "",
        ]),
    ...limits.flatMap((line) => [markdownText(line), ""]),
  ].join("\n");
}

function moreThan(count: number): readonly string[] {
  return count > maxListed ? ["", `and ${count - maxListed} more`] : [];
}
