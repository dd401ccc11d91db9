import { randomBytes } from "node:crypto";
import { escaped } from "../admin_page/render_page.ts";
import type { PracticeResponse, Header } from "../http/messages.ts";
import type { Person } from "./people.ts";

export interface LoginForm {
  /** For the authorization request that waits for this. */
  readonly transaction: string;
  readonly people: readonly Person[];
  /** What was typed before; empty: nothing. */
  readonly login: string;
  /** Why it is shown again; null: it is new. */
  readonly problem: string | null;
  /** Where the browser goes afterwards: browsers hold redirects of a form to its policy, too. */
  readonly redirectOrigin: string;
}

/** The form of a person's name and password. It works without a script. */
export function loginPage(form: LoginForm, action: string): PracticeResponse {
  const { transaction, people, login, problem, redirectOrigin } = form;
  const rows = people.map(
    (person) =>
      `<tr><td>${escaped(person.name)}</td><td><code>${escaped(person.login)}</code></td>` +
      `<td><code>${escaped(person.password)}</code></td></tr>`,
  );
  const body = `<form method="post" action="${escaped(action)}">
<input type="hidden" name="transaction" value="${escaped(transaction)}">
<p id="problem" role="alert">${escaped(problem ?? "")}</p>
<p><label for="login">Email</label>
<input id="login" name="login" type="email" autocomplete="username" required autofocus value="${escaped(login)}"${
    problem === null ? "" : ' aria-invalid="true"'
  } aria-describedby="problem"></p>
<p><label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required aria-describedby="problem"></p>
<p class="buttons"><button name="choice" value="sign-in">Sign in</button>
<button name="choice" value="cancel" formnovalidate>Cancel</button></p>
</form>
<h2 id="people">Who there is</h2>
<table aria-labelledby="people"><thead><tr><th scope="col">Name</th><th scope="col">Email</th><th scope="col">Password</th></tr></thead>
<tbody>${rows.join("")}</tbody></table>`;
  return page(200, { title: "Sign in", body, formAction: `'self' ${redirectOrigin}` });
}

/** For a request that must not be redirected anywhere, and for what is over. */
export function messagePage(status: number, title: string, text: string, headers: readonly Header[] = []) {
  return page(status, { title, body: `<p>${escaped(text)}</p>`, formAction: "'none'" }, headers);
}

interface PageContent {
  readonly title: string;
  readonly body: string;
  readonly formAction: string;
}

function page(
  status: number,
  { title, body, formAction }: PageContent,
  headers: readonly Header[] = [],
): PracticeResponse {
  const nonce = randomBytes(16).toString("base64url");
  return {
    status,
    headers: [
      ["content-type", "text/html; charset=utf-8"],
      [
        "content-security-policy",
        `default-src 'none'; style-src 'nonce-${nonce}'; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`,
      ],
      ["x-frame-options", "DENY"],
      ["x-content-type-options", "nosniff"],
      // With `no-referrer` a browser would not say whose form it is.
      ["referrer-policy", "same-origin"],
      ...headers,
    ],
    body: `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}: practice org</title>
<style nonce="${nonce}">${style}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p class="note">This is the practice org, a local identity provider. Its people and their passwords are made up.</p>
${body}
</main>
</body>
</html>
`,
  };
}

const style = `
:root { color-scheme: light dark; --line: light-dark(#767676, #8f8f8f); }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1rem; max-width: 32rem; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0; }
h2 { font-size: 1rem; margin: 2rem 0 0.5rem; }
p { margin: 0.5rem 0; }
label { display: block; font-weight: 600; }
input, button { font: inherit; min-height: 2.75rem; padding: 0.25rem 0.75rem; border: 1px solid var(--line); border-radius: 0.25rem; }
input { width: 100%; }
#problem { font-weight: 600; color: light-dark(#a40000, #ffb3b3); }
#problem:empty { display: none; }
.buttons { display: flex; gap: 0.5rem; margin-top: 1rem; }
.buttons button:first-child { background: light-dark(#0b57d0, #8ab4f8); color: light-dark(#fff, #000); }
table { width: 100%; border-collapse: collapse; font-size: 0.875rem; }
th, td { text-align: left; padding: 0.25rem 0.5rem 0.25rem 0; border-top: 1px solid var(--line); }
:focus-visible { outline: 3px solid light-dark(#0b57d0, #8ab4f8); outline-offset: 2px; }
`;
