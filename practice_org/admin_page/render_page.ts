import { NotPossibleError } from "../changes/draft.ts";
import { settings, signInName, type OrgState } from "../changes/org_changes.ts";
import { admins } from "../log/admins.ts";
import { pageScript, pageStyle } from "./page_assets.ts";
import type { Change, Setting } from "../changes/setting.ts";
import type { LogEntry } from "../log/system_log.ts";
import type { OrgContents } from "../objects/org_contents.ts";

export interface PageModel {
  readonly state: OrgState;
  /** The login that is chosen; null: the first. */
  readonly actor: string | null;
  readonly nonce: string;
  readonly token: string;
  readonly message: string;
  /** The newest first. */
  readonly entries: readonly LogEntry[];
}

/** The page works without its script: each button is part of one form. */
export function renderPage({ state, actor, nonce, token, message, entries }: PageModel): string {
  const contents = state.contents();
  const areas = [...new Set(settings.map(({ area }) => area))];
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(contents.name)}: admin page</title>
<style nonce="${nonce}">${pageStyle}</style>
</head>
<body>
<header>
<h1>${escaped(contents.name)}</h1>
<p>A local identity provider to practise on. What you press changes this org, and its System Log says that it was you.</p>
</header>
<main>
<form method="post" action="/practice/change">
<input type="hidden" name="token" value="${token}">
<p class="who"><label for="actor">You are</label>
<select id="actor" name="actor" autocomplete="off">${admins
    .map(({ alternateId, displayName }) => {
      const selected = alternateId === actor ? " selected" : "";
      return `<option value="${escaped(alternateId)}"${selected}>${escaped(displayName)} (${escaped(alternateId)})</option>`;
    })
    .join("")}</select>
<button name="name" value="${signInName}">Sign in</button></p>
<p id="message" role="status">${escaped(message)}</p>
${areas.map((area) => renderArea(area, state, contents)).join("\n")}
</form>
<section aria-labelledby="log-title" tabindex="0">
<h2 id="log-title">System Log: the last 20 entries</h2>
<ol id="log" data-live>${entries.map(renderEntry).join("") || "<li>No entry yet</li>"}</ol>
</section>
</main>
<script nonce="${nonce}">${pageScript}</script>
</body>
</html>
`;
}

function renderArea(area: string, state: OrgState, contents: OrgContents): string {
  const id = `area-${area.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`;
  const rows = settings
    .filter((setting) => setting.area === area)
    .map((setting) => renderSetting(setting, state, contents));
  return `<section aria-labelledby="${id}"><h2 id="${id}">${escaped(area)}</h2><ul>${rows.join("")}</ul></section>`;
}

function renderSetting(setting: Setting, state: OrgState, contents: OrgContents): string {
  const buttons = setting.changes.map((change) => renderButton(change, state)).join("");
  const id = `now-${setting.changes[0].name}`;
  return `<li><div><h3>${escaped(setting.label)}</h3><p id="${id}" data-live>${escaped(presentOf(setting, contents))}</p></div><div class="buttons">${buttons}</div></li>`;
}

function presentOf({ present }: Setting, contents: OrgContents): string {
  try {
    return present(contents);
  } catch (error) {
    if (error instanceof NotPossibleError) return "not in this org";
    throw error;
  }
}

function renderButton(change: Change, state: OrgState): string {
  const disabled = state.isPossible(change) ? "" : " disabled";
  return `<button name="name" value="${change.name}"${disabled}>${escaped(change.label)}</button>`;
}

const maxTextLength = 120;

function renderEntry({ event }: LogEntry): string {
  const { published, eventType, displayMessage, actor, target } = event;
  const targets = (target ?? []).map(({ displayName }) => shortened(displayName ?? "")).join(", ");
  return (
    `<li><time datetime="${escaped(published)}">${escaped(published.slice(11, 19))}</time> ` +
    `<strong>${escaped(displayMessage ?? eventType)}</strong> <code>${escaped(eventType)}</code> ` +
    `<span>${escaped(targets)}</span> <span>by ${escaped(shortened(actor.displayName))}</span></li>`
  );
}

/** One line, no matter what the text holds; a cut surrogate is left out. */
function shortened(text: string): string {
  const line = text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ");
  return line.length <= maxTextLength ? line : `${line.slice(0, maxTextLength).toWellFormed()}…`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}
