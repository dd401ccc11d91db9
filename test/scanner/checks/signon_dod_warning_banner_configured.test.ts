import { describe, expect, test } from "vitest";
import { missing, obtained, type SignInPage } from "../../../scanner/evidence/artifacts.ts";
import { bannerSentences } from "../../../scanner/checks/parsing/dod_banner.ts";
import { textsOfScript } from "../../../scanner/checks/parsing/javascript_text.ts";
import { wordsOf } from "../../../scanner/checks/parsing/page_text.ts";
import { evaluate } from "../../support/artifact_builders.ts";

const check = "signon_dod_warning_banner_configured";
const banner = bannerSentences.join(" ");
const script = (code: string) => `<html><head><script nonce="x">${code}</script></head><body></body></html>`;

const shownScript = (code: string) => script(`${code};\ndocument.body.append(banner, b, x);`);

describe("a page that shows the whole banner PASSes", () => {
  test.each<[how: string, page: string]>([
    ["as text", `<body>${banner}</body>`],
    ["in upper case", `<body>${banner.toUpperCase()}</body>`],
    ["wrapped and indented", `<body>${banner.replaceAll(" ", " \n   ")}</body>`],
    ["in paragraphs", bannerSentences.map((sentence) => `<p>${sentence}</p>`).join("\n")],
    [
      "as a list without dashes",
      `<ul>${bannerSentences.map((text) => `<li>${text.replace(/^-/, "")}</li>`).join("")}</ul>`,
    ],
    ["with a heading and other text between", bannerSentences.map((text) => `<h4>Notice</h4><p>${text}</p>`).join("")],
    ["with emphasis inside words", `<p>${banner.replace("USG", "<b>U</b>SG")}</p>`],
    ["with attributes that hold a >", `<p title="a > b">${banner}</p>`],
    ["with entities", `<p>${banner.replaceAll("(", "&#40;").replaceAll(",", "&#x2c;").replaceAll(" ", "&nbsp;")}</p>`],
    [
      "with typographic dashes and quotes",
      `<p>\u201C${banner.replaceAll("--", "\u2014").replaceAll(/-/g, "\u2011")}\u201D</p>`,
    ],
    ["with bullets", bannerSentences.map((text) => `\u2022 ${text}<br/>`).join("")],
    ["with soft hyphens", `<p>${banner.replaceAll("communications", "communi\u00ADcations")}</p>`],
    ["in a string of a script", shownScript(`var banner = ${JSON.stringify(banner)};`)],
    ["in single quotes", shownScript(`var banner = '${banner}';`)],
    [
      "joined over lines",
      shownScript(
        `var banner = ${pieces(50)
          .map((piece) => JSON.stringify(piece))
          .join("\n  + ")};`,
      ),
    ],
    [
      "joined within words",
      shownScript(
        `x = ${pieces(7)
          .map((piece) => `'${piece}'`)
          .join("+")};`,
      ),
    ],
    [
      "joined with comments between",
      shownScript(
        `x = ${pieces(90)
          .map((piece) => `'${piece}' // part`)
          .join("\n +")};`,
      ),
    ],
    [
      "added piece by piece",
      shownScript(bannerSentences.map((text) => `banner += ${JSON.stringify(`${text} `)};`).join("\n")),
    ],
    [
      "as a list of sentences",
      shownScript(`alert([${bannerSentences.map((text) => JSON.stringify(text)).join(", ")}].join("<br>"))`),
    ],
    [
      "in a template",
      shownScript(`el.innerHTML = \`<div class="\${cls}">${bannerSentences.join("\n<br>\n")}</div>\`;`),
    ],
    ["with line breaks as escapes", shownScript(`alert("${bannerSentences.join("\\n\\n")}")`)],
    ["with escaped apostrophes", shownScript(`alert('It\\'s yours: ${banner}')`)],
    [
      "with Unicode escapes",
      shownScript(`x = "${banner.replaceAll("U", "\\u0055").replaceAll("(", "\\x28").replaceAll("y", "\\u{79}")}"`),
    ],
    ["with escaped line ends", shownScript(`x = "${banner.replaceAll(", ", ", \\\n")}"`)],
    [
      "with markup and entities in the string",
      shownScript(`x = "<p>${banner.replaceAll(" ", "&nbsp;").replaceAll(".", ".<br \\/>")}<\\/p>"`),
    ],
    [
      "after an address on the same line",
      shownScript(`go("https://acme.okta.com/x"); var b = ${JSON.stringify(banner)};`),
    ],
    ["after a regular expression with a quote", shownScript(`var r = /["']/g; var b = ${JSON.stringify(banner)};`)],
    ["after a division", shownScript(`var r = a / b; var c = d / e; var b = ${JSON.stringify(banner)};`)],
    ["after code that is broken", shownScript(`var broken = "never closed\nvar b = ${JSON.stringify(banner)};`)],
    ["in a page without an end", `<body><p>${banner}`],
    ["with a comment inside a word", `<p>${banner.replace("USG", "U<!-- x -->SG")}</p>`],
    ["in a read-only text area", `<textarea readonly>${banner}</textarea>`],
    ["in a table whose tags are misnested", `<table><b><tr><td>${banner}</b></table>`],
    ["in an open dialog", `<dialog open>${banner}</dialog>`],
    ["in open details", `<details open><summary>Notice</summary>${banner}</details>`],
    ["in the summary of closed details", `<details><summary>${banner}</summary>more</details>`],
    ["beside what is hidden", `<div hidden>x</div><p style="display: block; color: red">${banner}</p>`],
    ["after a title in a drawing", `<svg><title>x</title></svg><p>${banner}</p>`],
    ["after a script that a template engine fills in", `<script>{{{ widget }}}; var x = {{ json }};</script>${banner}`],
    ["in a tagged template after a division", script(`x = a / 2; document.body.innerHTML = html\`${banner}\``)],
  ])("%s", (_, page) => {
    expect(judge(page)).toMatchObject({
      status: "PASS",
      findings: [{ resource: { type: "brand", name: "acme" } }],
    });
  });
});

describe("a string of a script PASSes where the script passes it on to what shows it", () => {
  /** TEXT stands for the banner as a string literal, so that a title stays a line. */
  const withText = (code: string) => script(code.replace("TEXT", () => JSON.stringify(banner)));

  test.each([
    `alert(TEXT)`,
    `window.confirm(TEXT)`,
    `document.write("<p>" + TEXT + "</p>")`,
    `document.writeln(TEXT)`,
    `el.innerHTML = TEXT`,
    `el.innerHTML += TEXT`,
    `el.outerHTML = TEXT`,
    `el.textContent = isNew ? "" : TEXT`,
    `el.innerText = TEXT`,
    `el.insertAdjacentHTML("afterbegin", TEXT)`,
    `el.appendChild(document.createTextNode(TEXT))`,
    `$("#notice").html(TEXT)`,
    `Object.assign(el, { textContent: TEXT })`,
    `document.addEventListener("load", function () { el.append(TEXT); })`,
    `const texts = { notice: TEXT }; el.innerText = texts.notice`,
    `el.innerHTML = one; var two = TEXT; var one = "<p>" + two`,
    `var lines = []; lines.push(TEXT); el.innerHTML = lines.join("<br>")`,
    `settings.notice = TEXT; alert(settings.notice)`,
    `var b = TEXT\nalert(b)`,
  ])("%s", (code) => {
    expect(judge(withText(code)).status).toBe("PASS");
  });

  test.each([
    `var b = TEXT;`,
    `var b = TEXT; alert("hello")`,
    `var b = TEXT\nalert("hello")`,
    `console.log(TEXT)`,
    `show(TEXT)`,
    `el.title = TEXT; document.body.append(el)`,
    `config.i18n = { en: { "primaryauth.title": TEXT } };`,
    `alert("hello"), x = TEXT`,
    `el.innerHTML = "hello"; TEXT`,
  ])("%s shows nothing that is seen: needs_review", (code) => {
    expect(judge(withText(code))).toMatchObject({ status: "MANUAL", reason: "needs_review" });
  });
});

describe("an element that is hidden", () => {
  // BANNER stands for the banner, so that a title stays a line.
  test.each([
    `<div hidden>BANNER</div>`,
    `<div style="display: none">BANNER</div>`,
    `<div style="color: red; visibility:hidden"><p>BANNER</p></div>`,
    `<template>BANNER</template>`,
    `<dialog>BANNER</dialog>`,
    `<div hidden id="notice">BANNER</div><script>render("#other")</script>`,
  ])("%s shows no banner: FAIL", (page) => {
    expect(judge(page.replace("BANNER", banner)).findings).toMatchObject([{ status: "FAIL", actual: "no banner" }]);
  });

  test.each([
    `<div hidden id="notice">BANNER</div><script>document.getElementById("notice").hidden = false</script>`,
    `<div class="modal notice" style="display:none">BANNER</div><script>$(".notice").fadeIn()</script>`,
    `<template>BANNER</template><script>show(document.querySelector("template").content)</script>`,
    `<details><summary>Notice</summary>BANNER</details>`,
    `<script type="text/x-handlebars">BANNER</script>`,
  ])("%s may be shown: needs_review", (page) => {
    expect(judge(page.replace("BANNER", banner))).toMatchObject({ status: "MANUAL", reason: "needs_review" });
  });
});

describe("a page without it FAILs", () => {
  test.each<[how: string, page: string]>([
    ["the widget alone", '<body><div id="okta-login-container"></div></body>'],
    ["in a comment", `<body><!-- ${banner} --></body>`],
    ["in a comment around a script", `<!-- <script>var b = ${JSON.stringify(banner)};</script> -->`],
    ["in a comment without an end", `<body><!-- ${banner}`],
    ["in a line comment of a script", script(`// ${banner}`)],
    ["in a block comment of a script", script(`/* ${banner} */ var x = "hello";`)],
    ["in a comment inside a string", script(`x = "<!-- ${banner} -->"`)],
    ["in a style", `<style>p::after { content: "${banner}" }</style>`],
    ["in an attribute", `<p data-banner="${banner}"></p>`],
    ["in the title", `<title>${banner}</title>`],
    ["for browsers without scripts", `<noscript>${banner}</noscript>`],
    ["instead of a frame", `<iframe>${banner}</iframe>`],
    ["instead of a film", `<video>${banner}</video>`],
    ["in a drawing's title", `<svg><title>${banner}</title></svg>`],
    ["in a script that is loaded from elsewhere", `<script src="/x.js">var b = ${JSON.stringify(banner)};</script>`],
    ["in a regular expression of a script", script(`x = /${banner.replaceAll("/", ".")}/`)],
    ["as words in another order", `<p>${banner.split(" ").toReversed().join(" ")}</p>`],
  ])("%s", (_, page) => {
    expect(judge(page).findings).toMatchObject([{ status: "FAIL", actual: "no banner" }]);
  });

  test.each(bannerSentences.map((sentence, index) => [index, sentence] as const))(
    "without sentence %d, and names it",
    (_, sentence) => {
      const result = judge(`<p>${bannerSentences.filter((text) => text !== sentence).join(" ")}</p>`);
      expect(result.status).toBe("FAIL");
      expect(result.findings[0]?.actual).toContain(sentence.replace(/^-/, "").slice(0, 40));
    },
  );

  test.each([
    ["USG-authorized use only", "USG authorised use only"],
    ["may inspect", "can inspect"],
    ["not private", "private"],
    ["clergy, and their assistants", "clergy"],
  ])("with %j changed to %j", (from, to) => {
    expect(banner).toContain(from);
    expect(judge(`<p>${banner.replace(from, to)}</p>`).status).toBe("FAIL");
  });
});

describe("what a person has to look at", () => {
  test.each([
    ["DISA's short form", "I've read &amp; consent to terms in IS user agreem't."],
    ["the short form in a script", `<script>alert('I\\'ve read & consent to terms in IS user agreem\\'t.')</script>`],
    ["the short form with a typographic apostrophe", "I\u2019ve read & consent to terms in IS user agreem\u2019t"],
  ])("%s", (_, page) => {
    expect(judge(`<body>${page}</body>`)).toMatchObject({ status: "MANUAL", reason: "needs_review" });
  });

  test("every sentence, but not in order", () => {
    expect(judge(bannerSentences.toReversed().join(" "))).toMatchObject({
      status: "MANUAL",
      reason: "needs_review",
    });
  });

  test("content of another shape", () => {
    expect(judge({ html: banner })).toMatchObject({ status: "MANUAL", reason: "unreadable" });
  });
});

describe("the pages of the brands", () => {
  test("are judged one by one; an uncustomized one FAILs with a note", () => {
    const page = (kind: SignInPage["kind"], content: unknown) => obtained({ kind, content });
    const result = evaluate(check, {
      brand_sign_in_pages: obtained([
        { brand: { id: "b1", name: "acme" }, page: page("customized", banner) },
        { brand: { id: "b2", name: "default" }, page: page("default", "<html></html>") },
        { brand: { id: "b3", name: "empty" }, page: page("default", null) },
        { brand: { id: "b4", name: "refused" }, page: missing("missing_role", "403 E0000006") },
      ]),
    });
    expect(result.findings.map(({ resource, status, reason }) => [resource.name, status, reason])).toEqual([
      ["acme", "PASS", null],
      ["default", "FAIL", null],
      ["empty", "FAIL", null],
      ["refused", "MANUAL", "missing_role"],
    ]);
    expect(result.findings[1]?.detail).toMatch(/the page is not customized/);
  });

  test("none is one FAIL for the org", () => {
    const result = evaluate(check, { brand_sign_in_pages: obtained([]) });
    expect(result.findings).toMatchObject([{ status: "FAIL", resource: { type: "org" } }]);
  });

  test("that broke off prove a bare page, and nothing else", () => {
    const pages = (content: string) => [
      { brand: { id: "b1" }, page: obtained({ kind: "customized" as const, content }) },
    ];
    const bare = evaluate(check, { brand_sign_in_pages: missing("provider_error", "", pages("bare")) });
    const whole = evaluate(check, { brand_sign_in_pages: missing("provider_error", "", pages(banner)) });
    expect(bare.status).toBe("FAIL");
    expect(whole).toMatchObject({ status: "MANUAL", reason: "provider_error" });
  });
});

describe("textsOfScript", () => {
  test.each<[code: string, texts: readonly string[]]>([
    [`"a" + "b"`, ["ab"]],
    [`"a"+'b'+\`c\``, ["abc"]],
    [`"a" + x + "b"`, ["a", "b"]],
    [`"a" /* + */ "b"`, ["a", "b"]],
    [`"a" ++ "b"`, ["a", "b"]],
    ["`a${x}b`", ["a b"]],
    ["`a${ `in` + 'ner' }b`", ["a b", "inner"]],
    ["`a${ {b: '}'} }c`", ["a c", "}"]],
    [`return /"/.test("a")`, ["a"]],
    [`x = a / b; y = "c" / d`, ["c"]],
    [`/[/"]/.test('a')`, ["a"]],
    [String.raw`'\n\t\0\q\\'`, ["\n\t\0q\\"]],
    [String.raw`'\u{110000}\uZZ\x'`, [" uZZx"]],
    ["'open", ["open"]],
    ["`open", ["open"]],
    ["`open ${ 'in", ["open  ", "in"]],
    ["/* open", []],
    ["", []],
  ])("of %j are %j", (code, texts) => {
    expect(textsOfScript(code).map(({ text }) => text)).toEqual(texts);
  });
});

test("wordsOf folds what is set in many ways", () => {
  expect(wordsOf("  The \u201CUSG\u201D\u2014it\u2019s\u00A0one\u200B. ")).toBe(" the usg it s one ");
});

function pieces(length: number): readonly string[] {
  return banner.match(new RegExp(`.{1,${length}}`, "g")) ?? [];
}

function judge(content: unknown) {
  const page = obtained({ kind: "customized" as const, content });
  return evaluate(check, { brand_sign_in_pages: obtained([{ brand: { id: "bnd1", name: "acme" }, page }]) });
}
