import { html, raw } from "hono/html";
import { catalog } from "../catalog/catalog.ts";
import type { CheckResult, Finding, Report, Status } from "../../shared/report.ts";
import { attestationLine, waiverLine } from "./disposition.ts";
import { benchmarkVersion, hostOf } from "./benchmark_rules.ts";
import { htmlStyle } from "./html_style.ts";
import type { ReportFormat } from "./report_format.ts";

type Html = ReturnType<typeof html>;

const statusOrder = { FAIL: 0, MANUAL: 1, PASS: 2 } as const;
const statusNames = { PASS: "Pass", FAIL: "Fail", MANUAL: "Manual" } as const;
const roleNames = {
  super_admin: "Super Administrator",
  read_only_admin: "Read-Only Administrator",
  unknown: "unknown",
} as const;

/** One page for people: no script, no outside request, readable on a phone and on paper. `html` escapes every value. */
export const htmlFormat: ReportFormat = {
  name: "html",
  extension: "html",
  isMachine: false,
  render(report, options) {
    const checks = report.checks.toSorted((a, b) => statusOrder[a.status] - statusOrder[b.status]);
    const title = `Scan of ${hostOf(report)}`;
    const page = html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'" />
          <meta name="color-scheme" content="light dark" />
          <title>${title}</title>
          <style>
            ${raw(htmlStyle)}
          </style>
        </head>
        <body>
          <header>
            <h1>${title}</h1>
            <p>
              DISA Okta IDaaS STIG ${benchmarkVersion} · ${report.scan.status}
              <time datetime="${report.scan.ended_at}">${readableTime(report.scan.ended_at)}</time>
            </p>
          </header>
          <main>
            ${summary(report)} ${overview(checks)}
            <h2>Checks</h2>
            ${checks.map(checkSection)}
          </main>
          <footer>${facts(report, options.toolVersion)}</footer>
        </body>
      </html> `;
    if (page instanceof Promise) throw new TypeError("Cannot render the page: a part of it is a promise");
    return `${page.trim()}\n`;
  },
};

function summary({ summary: counts, baseline }: Report): Html {
  const cards = [
    ["fail", counts.fail, "failed"],
    ["manual", counts.manual, "for a person"],
    ["pass", counts.pass, "passed"],
  ] as const;
  return html`<ul class="cards">
      ${cards.map(([kind, count, label]) => html`<li class="${kind}"><b>${count}</b> ${label}</li>`)}
    </ul>
    ${baseline === null ? "" : html`<p>Against scan ${baseline.scan_id}: ${baseline.new} new, ${baseline.unchanged} unchanged, ${baseline.resolved} resolved.</p>`}`;
}

function overview(checks: readonly CheckResult[]): Html {
  return html`<table>
    <caption>
      Every check of this scan
    </caption>
    <thead>
      <tr>
        <th scope="col">Verdict</th>
        <th scope="col">Check</th>
        <th scope="col">STIG</th>
        <th scope="col">CAT</th>
        <th scope="col">Findings</th>
      </tr>
    </thead>
    <tbody>
      ${checks.map(
        (check) =>
          html`<tr>
            <td>${badge(check.status)}</td>
            <td><a href="#${check.vuln_id}">${check.title}</a></td>
            <td>${check.vuln_id}</td>
            <td>${check.category}</td>
            <td>${check.findings.length}</td>
          </tr> `,
      )}
    </tbody>
  </table>`;
}

function checkSection(check: CheckResult): Html {
  const rule = catalog.find((candidate) => candidate.rule.rule_id === check.rule_id)?.rule;
  const attestation = attestationLine(check);
  return html`<section id="${check.vuln_id}">
    <h3>${badge(check.status)} ${check.title}</h3>
    <p class="ids">
      <code>${check.check}</code> · ${check.vuln_id} · ${check.stig_id} · CAT
      ${check.category}${check.coverage === "partial" ? " · covers a part of its rule" : ""}${check.reason === null ? "" : ` · ${check.reason}`}
    </p>
    ${attestation === "" ? "" : html`<p class="mark">${attestation}</p>`}
    <div class="findings">${check.findings.map(findingCard)}</div>
    ${
      check.status === "PASS" || rule === undefined
        ? ""
        : html`<details>
            <summary>How to fix</summary>
            <pre>${rule.fix_text}</pre>
          </details>`
    }
  </section> `;
}

function findingCard(finding: Finding): Html {
  const { resource, waiver, change } = finding;
  return html`<article class="${finding.status.toLowerCase()}">
    <h4>${badge(finding.status)} ${resource.name} <small>${resource.type} ${resource.id}</small></h4>
    <dl>
      <dt>Expected</dt>
      <dd>${finding.expected}</dd>
      <dt>Actual</dt>
      <dd>${finding.actual}</dd>
      ${
        finding.reason === null
          ? ""
          : html`<dt>Reason</dt>
              <dd>${finding.reason}</dd>`
      }
    </dl>
    ${finding.status === "PASS" ? "" : html`<p>${finding.detail}</p>`}
    ${waiver === null ? "" : html`<p class="mark">${waiverLine(waiver)}</p>`}
    ${change === null ? "" : html`<p class="mark">${change}</p>`}
  </article> `;
}

function facts({ scan }: Report, toolVersion: string): Html {
  const rows = [
    ["Scan", scan.id],
    ["Organization", scan.org_url],
    ["Client", scan.client_id],
    ["Engine", scan.engine],
    ["Role", roleNames[scan.role]],
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

function badge(status: Status): Html {
  return html`<span class="badge ${status.toLowerCase()}">${statusNames[status]}</span>`;
}

function readableTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}
