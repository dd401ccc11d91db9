import { html, raw } from "hono/html";
import type { CheckResult, ControlResult, Finding, ManualReason, Report } from "../../shared/report.ts";
import { openFindings, ruleStates, stateOf, type RuleState } from "../../shared/rule_result.ts";
import { countOf } from "../../shared/outcome_text.ts";
import type { Revision } from "../catalog/catalog.ts";
import { checklistStatuses, statusOf } from "../checklists/answers.ts";
import { evidenceLine, levelOf, orgNameOf, ruleOf, type RenderOptions } from "./report_format.ts";
import { baselineLines, controlResults, vulnIdsOf } from "./controls.ts";
import { htmlStyle, runningHead } from "./html_style.ts";
import { failuresFirst, findingMarks, noteOf, ruleDecisions, stateLabels } from "./result_text.ts";
import { categoryCounts, changeLines, listRules, statementRows, summaryLine } from "./statement.ts";

type Html = ReturnType<typeof html>;

/**
 * A document for auditors, on a screen and on paper: statement, table of the rules, findings with their evidence, plan as an appendix.
 * One page without a script or a request; `html` escapes every value.
 */
export function renderHtml(report: Report, options: RenderOptions): string {
  const judged = { report, revision: options.revision };
  const title = `STIG assessment of ${orgNameOf(report)}`;
  const rules = listRules(report, options);
  const { listed, selectionLine } = rules;
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <style>
          ${raw(`${htmlStyle}${runningHead(`${title} · scan ${report.scan.id}`)}`)}
        </style>
      </head>
      <body>
        <header>
          <h1>${title}</h1>
          ${statement(report, options)}
        </header>
        <main>
          <h2 id="rules">Rules</h2>
          ${selectionLine === "" ? "" : html`<p class="mark">${selectionLine}.</p>`} ${ruleTable(listed)}
          <h2 id="findings">Findings</h2>
          ${ruleSections(rules, judged)} ${plan(report, listed)} ${controlTable(judged, listed)}
        </main>
      </body>
    </html> `;
  if (page instanceof Promise) throw new TypeError("Cannot render the page: a part of it is a promise");
  return `${page.trim().toWellFormed().replace(unprintable, " ")}\n`;
}

/** Control characters, which HTML does not allow, and marks that turn the direction of the text after them. */
const unprintable = /[^\P{Cc}\n\t]|[\u2028-\u202e\u2066-\u2069]/gu;

function statement(report: Report, options: RenderOptions): Html {
  const counts = categoryCounts(report.checks);
  return html`<dl class="facts">
      ${statementRows(report, options).map(
        ([name, text]) =>
          html`<dt>${name}</dt>
            <dd>${prose(text)}</dd>`,
      )}
    </dl>
    <table class="counts">
      <caption>
        Results in DISA's words, by category
      </caption>
      ${head("Category", ...ruleStates.map((state) => checklistStatuses[statusOf(state)].label))}
      <tbody>
        ${counts.map(
          ({ level, waived, ...ofLevel }) =>
            html`<tr>
              <th scope="row">${level}</th>
              ${ruleStates.map(
                (state) =>
                  html`<td class="${ofLevel[state] === 0 ? "" : state}">
                    ${ofLevel[state]}${state === "fail" && waived > 0 ? ` (${waived} waived)` : ""}
                  </td>`,
              )}
            </tr> `,
        )}
      </tbody>
    </table>
    <p>${summaryLine(report)}.</p>
    <p class="sign"><span>Name</span> <span>Date</span> <span>Signature</span></p>`;
}

function ruleTable(checks: readonly CheckResult[]): Html {
  return html`<table>
    ${head("Result", "Rule", "CAT", "Title", "FAIL or MANUAL")}
    <tbody>
      ${checks.map(
        (check) =>
          html`<tr>
            <td>${badge(stateOf(check))}</td>
            <td>${ruleLink(check.vuln_id)}</td>
            <td>${check.category}</td>
            <td>${check.title}</td>
            <td>${openFindings(check).length} of ${check.findings.length}</td>
          </tr> `,
      )}
    </tbody>
  </table>`;
}

function head(...names: readonly string[]): Html {
  return html`<thead>
    <tr>
      ${names.map((name) => html`<th scope="col">${name}</th>`)}
    </tr>
  </thead>`;
}

interface Judged {
  readonly report: Report;
  readonly revision: Revision;
}

/** Rules that the scan did not reach are one paragraph. */
function ruleSections({ reached, interrupted, interruptedLine }: ReturnType<typeof listRules>, judged: Judged): Html {
  const anchors = interrupted.map(({ vuln_id: vulnId }) => html`<span id="${vulnId}"></span>`);
  return html`${reached.map((check) => ruleSection(check, judged))}
  ${interrupted.length === 0 ? "" : html`<p class="mark">${anchors}${prose(interruptedLine)}</p>`}`;
}

/** A rule that passes or does not apply is folded into one line on a screen. */
function ruleSection(check: CheckResult, { revision }: Judged): Html {
  const state = stateOf(check);
  const heading = html`<h3>${badge(state)} ${vulnId(check.vuln_id)} ${levelOf(check)} ${check.title}</h3>`;
  const ids = html`<p class="ids">
    ${check.stig_id} · ${check.rule_id} · <code>${check.check}</code>${
      check.reason === null ? "" : ` · ${wordsOf(check.reason)}`
    }<br />${evidenceLine(check)}
  </p>`;
  const decided = ruleDecisions(check).map((line) => html`<p class="mark">${prose(line)}</p>`);
  const open = failuresFirst(openFindings(check));
  const isOpen = new Set(open);
  const others = check.findings.filter((finding) => !isOpen.has(finding));
  if (state === "pass" || state === "not_applicable")
    return html`<section id="${check.vuln_id}" class="folded ${state}">
      <details>
        <summary>${heading}</summary>
        ${ids} ${findingGroups(others)}
      </details>
      ${decided}
    </section> `;
  const fix = ruleOf(check, revision)?.fix_text ?? "";
  return html`<section id="${check.vuln_id}">
    ${heading} ${ids} ${decided} ${findingGroups(open)}
    ${
      others.length === 0
        ? ""
        : html`<details>
            <summary>
              ${others.length} of ${countOf(check.findings.length, "finding")} ${others.length === 1 ? "is" : "are"} not
              open
            </summary>
            ${findingGroups(others)}
          </details>`
    }
    ${
      fix === ""
        ? ""
        : html`<details class="fix">
            <summary>How to fix</summary>
            <pre>${fix}</pre>
          </details>`
    }
  </section> `;
}

/** The expectation is mostly the same for every resource of a check, so it is shown once. */
function findingGroups(findings: readonly Finding[]): readonly Html[] {
  return [...Map.groupBy(findings, ({ expected }) => expected)].map(
    ([expected, group]) =>
      html`<p class="expected"><span class="label">Expected</span> ${prose(expected)}</p>
        ${group.map(findingItem)}`,
  );
}

function findingItem(finding: Finding): Html {
  const { resource, reason, actual } = finding;
  const state = stateOf(finding);
  const note = noteOf(finding);
  return html`<article class="${state}">
    <h4>${badge(state)} ${resource.name} <small>${resource.type} ${resource.id}</small></h4>
    <p><span class="label">Found</span> ${prose(`${actual}${note === "" ? "" : `: ${note}`}`)}</p>
    ${reason === null ? "" : html`<p><span class="label">Reason</span> ${wordsOf(reason)}</p>`}
    ${findingMarks(finding).map((mark) => html`<p class="mark">${prose(mark)}</p>`)}
  </article> `;
}

/** More changes than this are counted. */
const maxChanges = 100;

/** The changes, first what closes most rules. */
function plan(report: Report, shown: readonly CheckResult[]): Html | string {
  const { headline, changes, left } = changeLines(report, maxChanges);
  if (changes.length === 0) return "";
  return html`<h2 id="plan">Appendix: the plan</h2>
    <p>${headline}.</p>
    <ol>
      ${changes.map(
        ({ change, closes, vulnIds }) =>
          html`<li>${prose(change)}. <small>${closes}: ${vulnIds.map((id) => ruleName(id, shown))}</small></li> `,
      )}
    </ol>
    ${left > 0 ? html`<p>And ${countOf(left, "more change")}.</p>` : ""}`;
}

/** The same results by control, for those who read by NIST SP 800-53. */
function controlTable({ report, revision }: Judged, shown: readonly CheckResult[]): Html | string {
  const results = controlResults(report, revision);
  if (results.length === 0) return "";
  const row = (control: ControlResult) => {
    const baselines = control.baselines.join(", ") || "in no baseline";
    return html`<tr>
      <td>${badge(stateOf(control))}</td>
      <td>
        <b>${control.label}</b> ${control.title} <small>${baselines}</small><br />
        ${vulnIdsOf(control, report).map((id) => ruleName(id, shown))}
      </td>
    </tr> `;
  };
  return html`<h2 id="controls">Appendix: controls of NIST SP 800-53</h2>
    <details>
      <summary>Rev. 5, as far as the rules of the STIG examine them: ${baselineLines(results).join("; ")}</summary>
      <table>
        ${head("Result", "Control")}
        <tbody>
          ${results.map(row)}
        </tbody>
      </table>
    </details>`;
}

/** A link where the page shows the rule. */
function ruleName(id: string, shown: readonly CheckResult[]): Html {
  return shown.some(({ vuln_id: known }) => known === id) ? ruleLink(id) : html`${vulnId(id)} `;
}

function ruleLink(id: string): Html {
  return html`<a class="v" href="#${id}">${id}</a> `;
}

/** Keeps a text on one line, however narrow its place is. */
function vulnId(id: string): Html {
  return html`<span class="v">${id}</span>`;
}

/** Text in which no V-number and no date breaks over two lines. */
function prose(text: string): readonly (Html | string)[] {
  return text.split(/(\bV-\d+\b|\b\d{4}-\d\d-\d\d\b)/).map((part, index) => (index % 2 === 1 ? vulnId(part) : part));
}

function wordsOf(reason: ManualReason): string {
  return reason.replaceAll("_", " ");
}

function badge(state: RuleState): Html {
  return html`<span class="badge ${state}">${stateLabels[state]}</span>`;
}
