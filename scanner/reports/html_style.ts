/** The look of the HTML report: light, dark, narrow and printed. */
export const htmlStyle = `
:root { --ink: #17202c; --soft: #55606e; --paper: #fff; --page: #f4f5f7; --line: #dfe3e8; --fail: #b3202c; --manual: #8a5a00; --pass: #1d7a45; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf0; --soft: #a5aebb; --paper: #1b2129; --page: #12161c; --line: #333c48; --fail: #ff8a8f; --manual: #f0bd62; --pass: #6fd19a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
header, main, footer { max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { margin: 1rem 0 0; font-size: 1.7rem; }
h2 { margin: 2rem 0 .5rem; font-size: 1.25rem; }
h3 { margin: 0 0 .25rem; font-size: 1.05rem; }
h4 { margin: 0 0 .25rem; font-size: 1rem; }
small, .ids, caption, header p, dt { color: var(--soft); font-weight: normal; font-size: .875rem; }
a { color: inherit; }
.cards { display: flex; flex-wrap: wrap; gap: .75rem; padding: 0; list-style: none; }
.cards li { flex: 1 1 8rem; padding: .75rem 1rem; background: var(--paper); border: 1px solid var(--line); border-radius: .6rem; }
.cards b { display: block; font-size: 1.8rem; line-height: 1.2; }
.cards .fail b { color: var(--fail); } .cards .manual b { color: var(--manual); } .cards .pass b { color: var(--pass); }
table { width: 100%; border-collapse: collapse; background: var(--paper); border: 1px solid var(--line); border-radius: .6rem; }
caption { padding: .25rem 0; text-align: left; }
th, td { padding: .4rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th, td:nth-child(3) { white-space: nowrap; }
section { margin: 1rem 0; padding: 1rem; background: var(--paper); border: 1px solid var(--line); border-radius: .6rem; }
article { margin: .6rem 0; padding: .5rem .75rem; border-left: 4px solid var(--pass); }
article.fail { border-color: var(--fail); } article.manual { border-color: var(--manual); }
article p { margin: .25rem 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .75rem; margin: 0; } dd { margin: 0; }
.badge { display: inline-block; min-width: 4rem; padding: 0 .5rem; border: 1px solid currentColor; border-radius: 1rem; font-size: .8rem; font-weight: 600; text-align: center; }
.badge.fail { color: var(--fail); } .badge.manual { color: var(--manual); } .badge.pass { color: var(--pass); }
.mark { padding: .25rem .6rem; border: 1px dashed var(--manual); border-radius: .4rem; }
pre { margin: .5rem 0 0; white-space: pre-wrap; font: .9rem/1.45 ui-monospace, monospace; }
@media (max-width: 40rem) { th:nth-child(n+4), td:nth-child(n+4) { display: none; } dl { grid-template-columns: 1fr; } }
@media print { body { background: none; } section, article, tr { break-inside: avoid; } details > *:not(summary) { display: block; } }
`;
