import { html, raw } from "hono/html";
import { toBase64 } from "../../shared/base64.ts";
import type { OpenApi } from "./describe_api.ts";
import type { AsyncApi } from "./describe_events.ts";

/** Its only style; the page's policy allows exactly this text. */
const docsStyle = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent) }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h2 { margin-top: 2.5rem } h3 { font: 600 1rem ui-monospace, monospace; margin: 1.5rem 0 .25rem }
section { border-top: 1px solid var(--line); padding: .5rem 0 } p { margin: .25rem 0 }
table { border-collapse: collapse; margin: .5rem 0 } td { padding: .1rem 1rem .1rem 0; vertical-align: top }
code, pre { font: .875rem ui-monospace, monospace } pre { overflow: auto; padding: .75rem; border: 1px solid var(--line) }
.method { text-transform: uppercase }
`;

/** In one piece: one more space between the tags, and the policy forbids it. */
const styleElement = raw(`<style>${docsStyle}</style>`);

type Html = ReturnType<typeof html>;
type Operation = NonNullable<OpenApi["paths"][string]["get"]>;

/** The Content-Security-Policy that allows the page's own style and nothing else. */
export async function pagePolicy(): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(docsStyle));
  const hash = toBase64(new Uint8Array(digest));
  return `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

/** Both documents on one page without a script or another request. */
export async function renderDocs(api: OpenApi, events: AsyncApi): Promise<string> {
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => renderOperation(method, path, operation as Operation)),
  );
  const messages = Object.values(events.components.messages).map(
    ({ name, summary, payload }) =>
      html`<section>
        <h3>${name}</h3>
        <p>${summary}</p>
        <p>${Object.keys(payload["properties"] ?? {}).map((field) => html`<code>${field}</code> `)}</p>
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
      ${parameters.map((parameter) =>
        "name" in parameter ? renderRow(parameter.name, parameter.in, parameter.description) : "",
      )}
      ${Object.entries(responses ?? {}).map(([status, response]) => renderRow(status, "", response.description))}
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

function renderRow(name: string, place: string, description = ""): Html {
  return html`<tr>
    <td><code>${name}</code></td>
    <td>${place}</td>
    <td>${description}</td>
  </tr>`;
}
