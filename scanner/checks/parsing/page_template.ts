/** The language in which the provider's sign-in pages are written: Mustache, as Okta uses it. */

/** The page without the comments of the provider's template, `{{! … }}` and `{{!-- … --}}`, and the text of these. */
export function splitTemplate(html: string): { readonly text: string; readonly comments: string } {
  const texts: string[] = [];
  const comments: string[] = [];
  let from = 0;
  for (let start = html.indexOf("{{!"); start !== -1; start = html.indexOf("{{!", from)) {
    const end = html.indexOf(html.startsWith("--", start + 3) ? "--}}" : "}}", start + 3);
    if (end === -1) break;
    texts.push(html.slice(from, start));
    comments.push(html.slice(start + 3, end));
    from = html.indexOf("}}", end) + 2;
  }
  return { text: [...texts, html.slice(from)].join(" "), comments: comments.join(" ") };
}

/** Parts of a page that the provider shows or not: what is between the tags is read. */
const section = /\{\{[#/^][^{}]*\}\}/g;
const template = /\{\{\{?[^{}]*\}?\}\}/g;
/** Stands for a value that is not known. */
export const anyValue = "var(--)";

/** A template of the provider's, `{{bgImageUrl}}`, could be anything. */
export function withoutTemplates(css: string): string {
  return css.replaceAll(section, " ").replaceAll(template, anyValue);
}
