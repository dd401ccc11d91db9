import { checkTitle, findCheck } from "./check_catalog.ts";
import { element, setText, type Child } from "./dom.ts";
import { icon, statusTag } from "./icons.ts";
import type { Finding } from "./scan_model.ts";

export interface FindingRow {
  readonly element: HTMLDetailsElement;
  update(finding: Finding): void;
}

/** One finding: a line, and what explains it when it is opened. What is inside is made only then. */
export function createFindingRow(first: Finding, actions: { readonly onOpen: (finding: Finding) => void }): FindingRow {
  let shown: Finding | null = null;
  const tag = element("span", { class: "finding-status" });
  const name = element("span", { class: "finding-name" });
  const check = element("span", { class: "finding-check" });
  const severity = element("span", { class: "severity" });
  const detail = element("span", { class: "finding-detail" });
  const inside = element("div", { class: "finding-inside" });
  const row = element(
    "details",
    {
      class: "finding",
      on: {
        toggle: () => {
          if (!row.open || shown === null) return;
          fillInside(inside, shown);
          actions.onOpen(shown);
        },
      },
    },
    [
      element("summary", {}, [
        tag,
        element("span", { class: "finding-main" }, [
          element("span", { class: "finding-head" }, [name, severity]),
          detail,
          check,
        ]),
        icon("chevron"),
      ]),
      inside,
    ],
  );

  function update(finding: Finding): void {
    if (finding === shown) return;
    if (finding.status !== shown?.status) tag.replaceChildren(statusTag(finding.status));
    shown = finding;
    setText(name, finding.resourceName === "" ? "Unnamed resource" : finding.resourceName);
    setText(check, checkTitle(finding.check));
    setText(severity, finding.severity);
    severity.className = `severity severity-${finding.severity}`;
    setText(detail, finding.detail);
    if (row.open) fillInside(inside, finding);
  }

  update(first);
  return { element: row, update };
}

function fillInside(inside: HTMLElement, finding: Finding): void {
  const info = findCheck(finding.check);
  const resource = [finding.resourceType, finding.resourceId]
    .filter((part) => part !== null && part !== "")
    .join(" · ");
  inside.replaceChildren(
    element("dl", { class: "facts" }, [
      ...fact("Expected", finding.expected ?? "Being read…", "fact-expected"),
      ...fact("Actual", finding.actual ?? "Being read…", "fact-actual"),
      ...fact("Detail", finding.detail),
      ...(finding.coverageReason === null ? [] : fact("Left to a person", finding.coverageReason)),
      ...(finding.reason === null ? [] : fact("Why a person must look", reasonWords[finding.reason] ?? finding.reason)),
      ...(resource === "" ? [] : fact("Resource", resource)),
      ...fact("Check", info === null ? finding.check : `${finding.check} (${info.stigId})`),
    ]),
  );
  if (info === null || finding.status === "PASS") return;
  inside.append(
    element("section", { class: "fix" }, [
      element("h3", { text: "How to fix" }),
      element("p", { class: "fix-text", text: info.fix }),
    ]),
  );
}

function fact(term: string, description: string, className = ""): readonly Child[] {
  return [element("dt", { text: term }), element("dd", { text: description, class: className })];
}

const reasonWords: Readonly<Record<string, string>> = {
  missing_scope: "The service application was not granted a scope that this check reads with",
  missing_role: "The service application's admin role does not allow this to be read",
  not_available: "The organization does not have this feature",
  provider_error: "The provider did not answer, or not completely",
  unreadable: "The provider's answer has a shape that is not known",
  not_applicable: "The check does not apply to this organization",
  needs_review: "Only a person can judge this",
};
