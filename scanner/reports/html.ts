import { html } from "hono/html";
import type { CheckResult, Finding, ManualReason, Report } from "../../shared/report.ts";
import { openFindings, stateOf, type RuleState } from "../../shared/rule_result.ts";
import { attestationLine, findingMarks, noteOf, tailoringLine, worstFirst } from "./result_text.ts";
import { revisionName, type Revision } from "../catalog/catalog.ts";
import { evidenceLine, orgNameOf, levelOf, ruleOf } from "./benchmark_rules.ts";
import { changeLines } from "./cause_lines.ts";
import { renderPage, type Html } from "./html_page.ts";
import { controlResults, countBaselines } from "./controls.ts";
import { shownChecks, shownLine, revisionOf, type ReportFormat } from "./report_format.ts";
import { interruptedLine, orgPolicyText, roleText, splitInterrupted, summaryParts } from "./summary_parts.ts";
import { countOf, outcomeText } from "../../shared/outcome_text.ts";

const stateNames = { pass: "Pass", fail: "Fail", manual: "Manual", not_applicable: "N/A" } as const;

/** For people: what fails first, what passes folded. */
export const htmlFormat: ReportFormat = {
  name: "html",
  extension: "html",
  isMachine: false,
  render(report, options) {
    const revision = revisionOf(options);
    const checks = shownChecks(report.checks, options).toSorted(worstFirst);
    const onlyShown = shownLine(report.checks, options);
    return renderPage({
      title: `Scan of ${orgNameOf(report)}`,
      about: html`DISA Okta IDaaS STIG ${revisionName(revision.benchmark)} · ${report.scan.status}
        <time datetime="${report.scan.ended_at}">${readableTime(report.scan.ended_at)}</time>`,
      main: html`${summary(report)} ${onlyShown === "" ? "" : html`<p class="mark">${onlyShown}.</p>`}
        ${changeSection(report)} ${overview(checks)}
        <h2>Rules</h2>
        ${checkSections(checks, { report, revision })} ${controlSection({ report, revision }, checks)}`,
      footer: facts(report, options.toolVersion),
    });
  },
};

interface Judged {
  readonly report: Report;
  readonly revision: Revision;
}

function summary(report: Report): Html {
  const { baseline } = report;
  return html`<ul class="cards">
      ${summaryParts(report).map(({ state, text }) => {
        const [, count = "", words = ""] = /^(\d+)(.*)$/s.exec(text) ?? [];
        return html`<li class="${state}"><b>${count}</b>${words}</li>`;
      })}
    </ul>
    ${baseline === null ? "" : html`<p>Against scan ${baseline.scan_id}: ${baseline.new} new, ${baseline.unchanged} unchanged, ${baseline.resolved} resolved.</p>`}`;
}

/** More changes than this are counted. */
const maxChanges = 100;

/** The changes, first what closes most rules. */
function changeSection(report: Report): Html | string {
  const { headline, changes } = changeLines(report);
  if (changes.length === 0) return "";
  const vulnIds = new Map(report.checks.map((check) => [check.check, check.vuln_id]));
  const left = changes.length - maxChanges;
  return html`<h2 id="changes">${headline}</h2>
    <ol>
      ${changes
        .slice(0, maxChanges)
        .map(
          ({ change, closes, checks }) =>
            html`<li>
              ${change}. <small>${closes}: ${checks.map((check) => ruleLink(vulnIds.get(check) ?? check))}</small>
            </li> `,
        )}
    </ol>
    ${left > 0 ? html`<p>And ${countOf(left, "more change")}.</p>` : ""}`;
}

function overview(checks: readonly CheckResult[]): Html {
  return html`<table>
    <caption>
      Every rule that this page lists
    </caption>
    <thead>
      <tr>
        <th scope="col">Verdict</th>
        <th scope="col">Rule</th>
        <th scope="col">CAT</th>
        <th scope="col">Title</th>
        <th scope="col">Open findings</th>
      </tr>
    </thead>
    <tbody>
      ${checks.map(
        (check) =>
          html`<tr>
            <td>${badge(stateOf(check))}</td>
            <td><a href="#${check.vuln_id}">${check.vuln_id}</a></td>
            <td>${levelOf(check)}</td>
            <td>${check.title}</td>
            <td>${openFindings(check).length} of ${check.findings.length}</td>
          </tr> `,
      )}
    </tbody>
  </table>`;
}

/** The same verdicts by control, for those who read by NIST SP 800-53. */
function controlSection({ report, revision }: Judged, shown: readonly CheckResult[]): Html | string {
  const results = controlResults(report, revision);
  if (results.length === 0) return "";
  const vulnIds = new Map(report.checks.map((check) => [check.check, check.vuln_id]));
  const lines = countBaselines(results).map(
    ({ baseline, total, counts }) =>
      `${countOf(total, "control")} of the ${baseline} baseline: ${outcomeText((state) => counts[state])}`,
  );
  return html`<h2 id="controls">Controls of NIST SP 800-53</h2>
    <details>
      <summary>Rev. 5, as far as the rules of the STIG examine them: ${lines.join("; ")}</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Verdict</th>
            <th scope="col">Control</th>
          </tr>
        </thead>
        <tbody>
          ${results.map(
            ({ label, title, baselines, checks, ...verdict }) =>
              html`<tr>
                <td>${badge(stateOf(verdict))}</td>
                <td>
                  <b>${label}</b> ${title} <small>${baselines.join(", ") || "in no baseline"}</small><br />
                  ${checks.map((name) =>
                    shown.some(({ check }) => check === name)
                      ? ruleLink(vulnIds.get(name) ?? name)
                      : `${vulnIds.get(name) ?? name} `,
                  )}
                </td>
              </tr> `,
          )}
        </tbody>
      </table>
    </details>`;
}

function ruleLink(vulnId: string): Html {
  return html`<a href="#${vulnId}">${vulnId}</a> `;
}

/** What the scan did not reach is one paragraph. */
function checkSections(checks: readonly CheckResult[], judged: Judged): Html {
  const { reached, interrupted } = splitInterrupted(checks);
  const anchors = interrupted.map(({ vuln_id: vulnId }) => html`<span id="${vulnId}"></span>`);
  return html`${reached.map((check) => checkSection(check, judged))}
  ${interrupted.length === 0 ? "" : html`<p class="mark">${anchors}${interruptedLine(interrupted)}</p>`}`;
}

/** A passing check is folded into one line. */
function checkSection(check: CheckResult, { report, revision }: Judged): Html {
  const attestation = attestationLine(check);
  const state = stateOf(check);
  const heading = html`<h3>${badge(state)} ${check.vuln_id} ${levelOf(check)} ${check.title}</h3>`;
  const ids = html`<p class="ids">
    ${check.stig_id} · ${check.rule_id} ·
    <code>${check.check}</code>${check.reason === null ? "" : ` · ${wordsOf(check.reason)}`}
    <br />${evidenceLine(check, report, revision)}
  </p>`;
  const open = openFindings(check);
  const others = check.findings.filter((finding) => !open.includes(finding));
  const attested = [tailoringLine(check), attestation].map((line) =>
    line === "" ? "" : html`<p class="mark">${line}</p>`,
  );
  if (state === "pass" || state === "not_applicable") {
    return html`<section id="${check.vuln_id}" class="folded ${state}">
      <details>
        <summary>${heading}</summary>
        ${ids} ${groups(others, otherItem)}
      </details>
      ${attested}
    </section> `;
  }
  return html`<section id="${check.vuln_id}">
    ${heading} ${ids} ${attested} ${groups(open, openCard)}
    ${
      others.length === 0
        ? ""
        : html`<details>
            <summary>${others.length} of ${countOf(check.findings.length, "finding")} are not open</summary>
            ${groups(others, otherItem)}
          </details>`
    }
    ${fix(check, revision)}
  </section> `;
}

/** The expectation is mostly the same for every resource of a check, so it is shown once. */
function groups(findings: readonly Finding[], show: (finding: Finding) => Html): readonly Html[] {
  return [...Map.groupBy(findings, ({ expected }) => expected)].map(
    ([expected, group]) =>
      html`<p class="expected"><span class="label">Expected</span> ${expected}</p>
        ${group.map(show)}`,
  );
}

function openCard(finding: Finding): Html {
  const { resource, reason } = finding;
  const note = noteOf(finding);
  return html`<article class="${finding.status.toLowerCase()}">
    <h4>${badge(stateOf(finding))} ${resource.name} <small>${resource.type} ${resource.id}</small></h4>
    <p><span class="label">Found</span> ${finding.actual}${note === "" ? "" : `: ${note}`}</p>
    ${reason === null ? "" : html`<p><span class="label">Reason</span> ${wordsOf(reason)}</p>`} ${marks(finding)}
  </article> `;
}

function otherItem(finding: Finding): Html {
  const { resource } = finding;
  const state = stateOf(finding);
  const note = noteOf(finding);
  return html`<article class="${state}">
    <p>
      ${state === "pass" ? "" : badge(state)} <b>${resource.name}</b> <small>${resource.type} ${resource.id}</small>:
      ${finding.actual}${note === "" ? "" : `: ${note}`}
    </p>
    ${marks(finding)}
  </article> `;
}

function marks(finding: Finding): readonly Html[] {
  return findingMarks(finding).map((mark) => html`<p class="mark">${mark}</p>`);
}

function fix(check: CheckResult, revision: Revision): Html | string {
  const text = ruleOf(check, revision)?.fix_text ?? "";
  if (text === "") return "";
  return html`<details class="fix">
    <summary>How to fix</summary>
    <pre>${text}</pre>
  </details>`;
}

function wordsOf(reason: ManualReason): string {
  return reason.replaceAll("_", " ");
}

function facts(report: Report, toolVersion: string): Html {
  const { scan } = report;
  const rows = [
    ["Scan", scan.id],
    ["Organization", scan.org_url],
    ["Client", scan.client_id],
    ["Engine", scan.engine],
    ["Role", roleText(report)],
    ...(report.org_policy === undefined ? [] : [["Access Control policy", orgPolicyText(report)]]),
    ["Scopes granted", scan.granted_scopes.join(", ")],
    ["Started", readableTime(scan.started_at)],
    ["Ended", readableTime(scan.ended_at)],
    ["Requests", `${scan.requests.total} (${scan.requests.retried} repeated)`],
    ["Written by", `scanstream ${toolVersion}`],
  ];
  return html`<h2>This scan</h2>
    <dl class="facts">
      ${rows.map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd>${value}</dd>`,
      )}
    </dl>`;
}

function badge(state: RuleState): Html {
  return html`<span class="badge ${state}">${stateNames[state]}</span>`;
}

function readableTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}
