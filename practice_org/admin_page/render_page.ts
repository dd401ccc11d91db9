import type { Org } from "../org.ts";
import { everyScope } from "../api/routes.ts";
import { clicksOf, type ServiceAppState } from "../auth/service_app.ts";
import { NotPossibleError } from "../not_possible_error.ts";
import { signInName, type OrgState } from "../changes/admin_console.ts";
import { admins } from "../log/admins.ts";
import { pageScript, pageStyle } from "./page_assets.ts";
import { settings } from "../changes/settings.ts";
import type { Change, Setting } from "../changes/setting_kinds.ts";
import type { LogEntry } from "../log/system_log.ts";
import type { OrgContents } from "../contents/org_contents.ts";

interface View {
  /** The login that is chosen; null: the first. */
  readonly actor: string | null;
  readonly nonce: string;
  readonly message: string;
}

/** The page works without its script: each button is part of one form. */
export function renderPage({ state, app, serviceApp, log }: Org, { actor, nonce, message }: View): string {
  const entries = log.entries().slice(-20).toReversed();
  const contents = state.contents();
  const areas = [...new Set(settings.map(({ area }) => area))];
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(contents.name)}: admin page</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">${pageStyle}</style>
</head>
<body>
<header>
<h1>${escaped(contents.name)}</h1>
<p>A local identity provider to practice on. What you press changes this org, and its System Log says that it was you.</p>
</header>
<main>
<form method="post" action="/practice/change">
<p class="who"><label for="actor">You are</label>
<select id="actor" name="actor" autocomplete="off">${admins
    .map(({ alternateId, displayName }) => {
      const selected = alternateId === actor ? " selected" : "";
      return `<option value="${escaped(alternateId)}"${selected}>${escaped(displayName)} (${escaped(alternateId)})</option>`;
    })
    .join("")}</select>
<button name="name" value="${signInName}">Sign in</button>
<a href="#app-title">To the scanner's service app</a></p>
<p id="message" role="status">${escaped(message)}</p>
${areas.map((area) => renderArea(area, state, contents)).join("\n")}
${renderApp(app, serviceApp.id, everyScope)}
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

/** The page of the service app, as far as a scanner needs it. */
function renderApp(app: ServiceAppState, clientId: string, scopes: readonly string[]): string {
  const clicks = clicksOf(app, scopes);
  const buttons = (...patterns: readonly string[]) =>
    clicks
      .filter(({ name }) => patterns.some((pattern) => name === pattern || name.startsWith(`${pattern}:`)))
      .map(
        ({ name, label, isPossible }) =>
          `<button name="name" value="${name}"${isPossible ? "" : " disabled"}>${escaped(label)}</button>`,
      )
      .join("");
  const row = (id: string, label: string, now: string, controls: string) =>
    `<li><div><h3>${label}</h3><p id="${id}" data-live>${escaped(now)}</p></div><div class="buttons">${controls}</div></li>`;
  const key = app.keys[0];
  const keyText = key === undefined ? "none" : `${String(key.jwk.kid)}, ${key.isActive ? "active" : "not active"}`;
  const granted = scopes.filter((scope) => app.grantedScopes.has(scope));
  const scopeRows = scopes.map((scope) =>
    row(
      `app-scope-${scope.replace(".", "-")}`,
      `okta.${scope}`,
      app.grantedScopes.has(scope) ? "granted" : "not granted",
      buttons(`scope-granted:${scope}`, `scope-revoked:${scope}`),
    ),
  );
  return `<section aria-labelledby="app-title"><h2 id="app-title">Applications: scanstream (API Services)</h2><ul>
${row("app-id", "App", app.isCreated ? `Client ID ${clientId}` : "not created", buttons("app-created", "service-app-deleted"))}
${row("app-key", "Public key", keyText, `<label for="key">Public key (JWK)</label><textarea id="key" name="key" rows="2" cols="30" spellcheck="false"></textarea>${buttons("key-saved", "key-inactive", "key-active")}`)}
<li><details open><summary><strong>Okta API Scopes</strong> <span id="app-scopes" data-live>${granted.length} of ${scopes.length} granted</span></summary><ul>${scopeRows.join("\n")}</ul></details></li>
${row("app-role", "Admin role", app.role, buttons("role-assigned", "super-assigned", "role-removed"))}
${row("app-dpop", "Demonstrating Proof of Possession (DPoP)", app.dpop, buttons("dpop-on", "dpop-off"))}
${row("app-public", "Public client app admins", app.hasPublicClientAdmins ? "on" : "off", buttons("public-client-on", "public-client-off"))}
${row("app-clock", "The org's clock", app.clockOffsetMs === 0 ? "right" : "five minutes ahead", buttons("clock-off", "clock-right"))}
</ul></section>`;
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

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}
