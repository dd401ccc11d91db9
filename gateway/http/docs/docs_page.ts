import { html, raw } from "hono/html";
import type { AsyncApi } from "./asyncapi.ts";
import type { OpenApi } from "./openapi.ts";
import type { Operation } from "./openapi_parts.ts";

/** Its only style; the page's policy allows exactly this text. */
export const docsStyle = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent) }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h2 { margin-top: 2.5rem } h3 { font: 600 1rem ui-monospace, monospace; margin: 1.5rem 0 .25rem }
section { border-top: 1px solid var(--line); padding: .5rem 0 } p { margin: .25rem 0 }
table { border-collapse: collapse; margin: .5rem 0 } td { padding: .1rem 1rem .1rem 0; vertical-align: top }
code, pre { font: .875rem ui-monospace, monospace } pre { overflow: auto; padding: .75rem; border: 1px solid var(--line) }
.method { text-transform: uppercase }
`;

/** In one piece: a space more between the tags, and the policy forbids it. */
const styleElement = raw(`<style>${docsStyle}</style>`);

type Html = ReturnType<typeof html>;

/** Both descriptions on one page that needs nothing else: no script, no other request. */
export async function renderDocs(api: OpenApi, events: AsyncApi): Promise<string> {
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => renderOperation(method, path, operation)),
  );
  const messages = Object.values(events.components.messages).map(
    ({ name, summary, payload }) =>
      html`<section>
        <h3>${name}</h3>
        <p>${summary}</p>
        <p>${Object.keys(payload.properties).map((field) => html`<code>${field}</code> `)}</p>
      </section>`,
  );
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>scanstream gateway: API and events</title>
        ${styleElement}
      </head>
      <body>
        <h1>scanstream gateway</h1>
        <p>
          Send <code>Authorization: Bearer &lt;jwt&gt;</code> or <code>Authorization: Api-Key &lt;key&gt;</code>. Errors
          are problem documents (RFC 9457). For programs: <a href="openapi.json">OpenAPI</a>,
          <a href="asyncapi.json">AsyncAPI</a>.
        </p>
        <h2>API</h2>
        ${operations}
        <h2>Events</h2>
        ${messages}
      </body>
    </html>`;
  return String(await page);
}

function renderOperation(method: string, path: string, operation: Operation): Html {
  const { summary, description, parameters = [], requestBody, responses } = operation;
  return html`<section>
    <h3><span class="method">${method}</span> ${path}</h3>
    <p>${summary}</p>
    ${description === undefined ? "" : html`<p>${description}</p>`}
    <table>
      ${parameters.map(
        (parameter) =>
          html`<tr>
            <td><code>${parameter.name}</code></td>
            <td>${parameter.in}</td>
            <td>${parameter.description ?? ""}</td>
          </tr>`,
      )}
      ${Object.entries(responses).map(
        ([status, response]) =>
          html`<tr>
            <td><code>${status}</code></td>
            <td></td>
            <td>${descriptionOf(response)}</td>
          </tr>`,
      )}
    </table>
    ${
      requestBody === undefined
        ? ""
        : html`<details>
            <summary>Body</summary>
            <pre>${JSON.stringify(requestBody, null, 2)}</pre>
          </details>`
    }
  </section>`;
}

function descriptionOf(response: unknown): string {
  if (typeof response !== "object" || response === null || !("description" in response)) return "";
  return String(response.description);
}
