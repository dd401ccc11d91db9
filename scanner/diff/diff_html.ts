import { html } from "hono/html";
import { findingChangeKinds, findingChangeTitles, type FindingChange } from "../../shared/finding_diff.ts";
import type { Diff, ObjectChange } from "../../shared/schemas/diff.ts";
import { renderPage, type Html } from "../reports/html_page.ts";
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

/** One page for people. */
export function renderHtml(diff: Diff): string {
  const { findings, objects } = diff;
  const kinds = findingChangeKinds.filter((kind) => findings.some(({ change }) => change === kind));
  return renderPage({
    title: `Changes of ${diff.after.org_url}`,
    about: sidesText(diff),
    main: html`<p><b>${summaryText(diff)}</b></p>
      ${kinds.map(
        (kind) =>
          html`<h2>${findingChangeTitles[kind]}</h2>
            ${findings.filter(({ change }) => change === kind).map(findingCard)}`,
      )}
      ${
        objects === null || objects.length === 0
          ? ""
          : html`<h2>Configuration</h2>
              ${objects.map(objectCard)}`
      }
      ${limitLines(diff).map((line) => html`<p class="mark">${line}</p>`)}`,
  });
}

function findingCard({ check, resource, before, after }: FindingChange): Html {
  const { status } = after ?? before ?? { status: "PASS" };
  return html`<article class="${status.toLowerCase()}">
    <h4>${resource.name} <small>${resource.type} ${resource.id} · ${check}</small></h4>
    <p>${verdictMove(before, after)}</p>
  </article> `;
}

function objectCard(object: ObjectChange): Html {
  const { change, fields, checks } = object;
  return html`<section>
    <h3>${objectChangeTitles[change]}: ${objectTitle(object)}</h3>
    ${change === "changed" ? "" : html`<p class="ids">${concernText(checks)}</p>`}
    ${fields.map((field) => html`<p>${fieldMove(field)} <small>${concernText(field.checks)}</small></p>`)}
  </section> `;
}
