/** The head of each sheet of paper: its text, and the number of the sheet. */
export function runningHead(text: string): string {
  // An escaped character does not end the string or the style element.
  const escaped = text.toWellFormed().replaceAll(/[^ \p{L}\p{N}.:-]/gu, (character) => {
    const point = character.codePointAt(0) ?? 0;
    return `\\${(point === 0 ? 0xfffd : point).toString(16)} `;
  });
  return `@page { @top-left { content: "${escaped}"; } @top-right { content: "Sheet " counter(page) " of " counter(pages); } }`;
}

/** The look of the HTML report: light, dark, narrow and printed. */
export const htmlStyle = `
:root { --ink: #17202c; --soft: #55606e; --paper: #fff; --page: #f4f5f7; --line: #dfe3e8; --fail: #b3202c; --manual: #8a5a00; --pass: #1d7a45; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf0; --soft: #a5aebb; --paper: #1b2129; --page: #12161c; --line: #333c48; --fail: #ff8a8f; --manual: #f0bd62; --pass: #6fd19a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
header, main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
header { padding-bottom: 0; } main { padding-top: 0; }
h1 { margin: 1rem 0; font-size: 1.7rem; }
h2 { margin: 2rem 0 .5rem; font-size: 1.25rem; }
h3 { margin: 0 0 .25rem; font-size: 1.05rem; }
h4 { margin: 0; font-size: 1rem; font-weight: 600; }
small, .ids, caption, dt, .label { color: var(--soft); font-weight: normal; font-size: .875rem; }
a { color: inherit; }
.v, th, .badge { white-space: nowrap; overflow-wrap: normal; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0 0 1rem; padding: .75rem 1rem; background: var(--paper); border: 1px solid var(--line); border-radius: .6rem; }
.facts dd { margin: 0; }
.sign { display: none; }
table { width: 100%; border-collapse: collapse; background: var(--paper); border: 1px solid var(--line); }
caption { padding: .25rem 0; text-align: left; }
th, td { padding: .4rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
.counts td { font-variant-numeric: tabular-nums; } .counts .fail { color: var(--fail); font-weight: 600; }
section { margin: .75rem 0; padding: .75rem 1rem; background: var(--paper); border: 1px solid var(--line); border-radius: .6rem; }
section.folded { margin: .4rem 0; padding: .4rem 1rem; }
.ids, .expected { margin: .25rem 0; }
article { margin: .4rem 0; padding: .1rem .75rem; border-left: 4px solid var(--pass); }
article.not_applicable { border-color: var(--line); } article.fail { border-color: var(--fail); } article.manual { border-color: var(--manual); }
article p { margin: .1rem 0; }
details { margin-top: .4rem; } section.folded details { margin: 0; }
summary { cursor: pointer; } summary h3 { display: inline; font-size: 1rem; font-weight: normal; }
.badge { display: inline-block; min-width: 4.5rem; padding: 0 .5rem; border: 1px solid currentColor; border-radius: 1rem; font-size: .8rem; font-weight: 600; text-align: center; }
.badge.fail { color: var(--fail); } .badge.manual { color: var(--manual); } .badge.pass { color: var(--pass); }
.mark { padding: .25rem .6rem; border: 1px dashed var(--manual); border-radius: .4rem; }
pre { margin: .5rem 0 0; white-space: pre-wrap; font: .9rem/1.45 ui-monospace, monospace; }
@media (max-width: 40rem) {
  body { font-size: .9rem; } header, main { padding-inline: .75rem; } section { padding: .6rem .75rem; }
  h1 { font-size: 1.4rem; } h3 { font-size: 1rem; } td, th { padding: .3rem .4rem; } .counts th { white-space: normal; overflow-wrap: anywhere; hyphens: auto; }
  main th:nth-child(n+3), main td:nth-child(n+3) { display: none; }
  .facts { grid-template-columns: 1fr; }
}
@media print {
  @page { size: A4; margin: 18mm 14mm 14mm; font: 8pt system-ui, sans-serif; }
  :root { color-scheme: light; --ink: #000; --soft: #444; --paper: #fff; --page: #fff; --line: #ccc; --fail: #b3202c; --manual: #8a5a00; --pass: #1d7a45; font-size: 9.5pt; }
  body { font-size: 1rem; line-height: 1.3; } main table { font-size: 8.5pt; line-height: 1.2; } main td { padding: 1.5pt .4rem; } header, main { max-width: none; padding: 0; }
  #rules, #findings, #plan { break-before: page; }
  h2 { margin-top: 0; } section, section.folded { padding: .4rem .6rem; }
  .sign { display: grid; grid-template-columns: 2fr 1fr 2fr; gap: 1.5rem; margin-top: 3rem; } .sign span { padding-top: .25rem; border-top: 1px solid var(--ink); }
  h1, h2, h3, h4, caption, .ids, .expected, summary { break-after: avoid; }
  h3, .ids, .expected, article, tr, .facts, .counts, .sign, section:not(:has(article:nth-of-type(5))) { break-inside: avoid; }
  details::details-content { display: block; content-visibility: visible; } summary { list-style: none; } .fix { display: none; }
}
`;
