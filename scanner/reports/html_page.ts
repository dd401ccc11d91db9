import { html, raw } from "hono/html";
import { htmlStyle } from "./html_style.ts";

export type Html = ReturnType<typeof html>;

export interface HtmlPage {
  readonly title: string;
  /** Under the title. */
  readonly about: Html;
  readonly main: Html;
  readonly footer: Html;
}

/** One page for people: no script, no outside request, readable on a phone and on paper. `html` escapes every value. */
export function renderPage({ title, about, main, footer }: HtmlPage): string {
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
          <p>${about}</p>
        </header>
        <main>${main}</main>
        <footer>${footer}</footer>
      </body>
    </html> `;
  if (page instanceof Promise) throw new TypeError("Cannot render the page: a part of it is a promise");
  return `${page.trim().toWellFormed().replace(unprintable, " ")}\n`;
}

/** Control characters, which HTML does not allow, and marks that turn the direction of the text after them. */
const unprintable = /[^\P{Cc}\n\t]|[\u2028-\u202e\u2066-\u2069]/gu;
