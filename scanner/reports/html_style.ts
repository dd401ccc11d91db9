/** The look of the HTML report: light, dark, narrow and printed. */
export const htmlStyle = `
:root { --ink: #17202c; --soft: #55606e; --paper: #fff; --page: #f4f5f7; --line: #dfe3e8; --fail: #b3202c; --manual: #8a5a00; --pass: #1d7a45; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf0; --soft: #a5aebb; --paper: #1b2129; --page: #12161c; --line: #333c48; --fail: #ff8a8f; --manual: #f0bd62; --pass: #6fd19a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
header, main, footer { max-width: 60rem; margin: 0 auto; padding: 1rem; }
header { padding-bottom: 0; } main { padding-top: 0; }
h1 { margin: 1rem 0 0; font-size: 1.7rem; }
h2 { margin: 2rem 0 .5rem; font-size: 1.25rem; }
h3 { margin: 0 0 .25rem; font-size: 1.05rem; }
h4 { margin: 0; font-size: 1rem; }
small, .ids, caption, header p, dt, .label { color: var(--soft); font-weight: normal; font-size: .875rem; }
a { color: inherit; }
.cards { display: flex; flex-wrap: wrap; gap: .75rem; padding: 0; list-style: none; }
.cards li { flex: 1; padding: .75rem 1rem; background: var(--paper); border: 1px solid var(--line); border-radius: .6rem; }
.cards b { display: block; font-size: 1.8rem; line-height: 1.2; }
.cards .fail b { color: var(--fail); } .cards .manual b { color: var(--manual); } .cards .pass b { color: var(--pass); }
table { width: 100%; border-collapse: collapse; background: var(--paper); border: 1px solid var(--line); border-radius: .6rem; }
caption { padding: .25rem 0; text-align: left; }
th, td { padding: .4rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th, td:nth-child(n+3), .badge { white-space: nowrap; overflow-wrap: normal; }
section { margin: .75rem 0; padding: .75rem 1rem; background: var(--paper); border: 1px solid var(--line); border-radius: .6rem; }
section.folded { margin: .4rem 0; padding: .4rem 1rem; }
.ids, .expected { margin: .25rem 0; }
article { margin: .4rem 0; padding: .1rem .75rem; border-left: 4px solid var(--pass); }
article.not_applicable { border-color: var(--line); } article.fail { border-color: var(--fail); } article.manual { border-color: var(--manual); }
article p { margin: .1rem 0; }
details { margin-top: .4rem; } section.folded details { margin: 0; }
summary { cursor: pointer; } summary h3 { display: inline; font-size: 1rem; font-weight: normal; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .75rem; margin: 0; } dd { margin: 0; }
.badge { display: inline-block; min-width: 4rem; padding: 0 .5rem; border: 1px solid currentColor; border-radius: 1rem; font-size: .8rem; font-weight: 600; text-align: center; }
.badge.fail { color: var(--fail); } .badge.manual { color: var(--manual); } .badge.pass { color: var(--pass); }
.mark { padding: .25rem .6rem; border: 1px dashed var(--manual); border-radius: .4rem; }
pre { margin: .5rem 0 0; white-space: pre-wrap; font: .9rem/1.45 ui-monospace, monospace; }
@media (max-width: 40rem) {
  body { font-size: .9rem; } header, main, footer { padding-inline: .75rem; } section { padding: .6rem .75rem; }
  h1 { font-size: 1.4rem; } h3 { font-size: 1rem; } .cards { gap: .4rem; } .cards li { padding: .4rem .6rem; } .cards b { font-size: 1.4rem; }
  th:nth-child(n+3), td:nth-child(n+3) { display: none; } td, th { padding: .3rem .4rem; }
  dl { grid-template-columns: 1fr; }
}
@media print {
  @page { margin: 14mm; }
  :root { color-scheme: light; --ink: #000; --soft: #444; --paper: #fff; --page: #fff; --line: #ccc; --fail: #b3202c; --manual: #8a5a00; --pass: #1d7a45; }
  body { font-size: 10pt; line-height: 1.35; } header, main, footer { max-width: none; padding: 0; }
  h2 { margin-top: 1rem; } section { padding: .4rem .6rem; } section.folded { padding: .1rem .6rem; }
  h1, h2, h3, h4, caption, .ids, .expected { break-after: avoid; }
  h3, .ids, .expected, article, tr, footer, .cards, section:not(:has(article:nth-of-type(5))) { break-inside: avoid; }
  dl { grid-template-columns: max-content 1fr max-content 1fr; } details { break-before: avoid; } .fix:not([open]) { display: none; } summary { list-style: none; }
}
`;
