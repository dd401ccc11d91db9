import { describe, expect, test } from "vitest";
import { missing, obtained, type BrandSignInPage, type SignInPage } from "../../../scanner/evidence/artifacts.ts";
import type { JsonObject } from "../../../shared/json.ts";
import { bannerSentences } from "../../../scanner/checks/parsing/dod_banner.ts";
import recorded from "../../fixtures/okta/recorded/brands.pages.sign-in.default/02.json" with { type: "json" };
import { evaluate, outcomeOf } from "../../support/artifact_builders.ts";

const check = "signon_dod_warning_banner_configured";
const banner = bannerSentences.join(" ");
/** Placeholders for the banner as text, with its lines, as a string literal, and with Unicode escapes, so that a title stays a line. */
const placeholders = {
  BANNER: banner,
  LINES: bannerSentences.join("\n<br>\n"),
  TEXT: JSON.stringify(banner),
  ESCAPED: `"${banner.replaceAll("U", "\\u0055").replaceAll("(", "\\x28").replaceAll("y", "\\u{79}")}"`,
};
const withBanner = (page: string) => page.replace(/BANNER|LINES|TEXT|ESCAPED/, (name) => placeholders[name as "TEXT"]);

test.each([
  `<dialog open>BANNER</dialog>`,
  `<div id="notice">BANNER<button onclick="document.getElementById('notice').remove()">I agree</button></div>`,
  `<details><summary>BANNER</summary>more</details>`,
  '<script>el.innerHTML = `<div class="${cls}">LINES</div>`;</script>',
  "<script>x = a / 2; document.body.innerHTML = html`BANNER`</script>",
  `<script nonce="x">x = ESCAPED;\ndocument.body.append(banner, b, x);</script>`,
  `<script>el.innerHTML += TEXT</script>`,
  `<script>Object.assign(el, { textContent: TEXT })</script>`,
  `<script>el.innerHTML = one; var two = TEXT; var one = "<p>" + two</script>`,
  `<script>var lines = []; lines.push(TEXT); el.innerHTML = lines.join("<br>")</script>`,
  '<script>el.innerHTML = `<div class="${shade("dark") + `x${1}`}">LINES</div>` + end;</script>',
  `<script>alert([TEXT, ""].map(trim).join("; "))</script>`,
  // Code counts even if it never runs.
  `<script>go(function () { show(); return; function show() { alert(TEXT) } })</script>`,
  `<script>false ? alert(TEXT) : 0</script>`,
])("%s shows the banner: PASS", (page) => {
  const resource = { type: "brand", name: "acme" };
  expect(judge(withBanner(page))).toMatchObject({ status: "PASS", findings: [{ resource }] });
});

test.each([
  `<div style="d\\69splay: /* at first */ NONE !important">BANNER</div>`,
  `<div hidden id="notice">BANNER</div><script>render("#other")</script>`,
  `<script>x = "<!-- BANNER -->"</script>`,
])("%s shows no banner: FAIL", (page) => {
  expect(judge(withBanner(page)).findings).toMatchObject([{ status: "FAIL", actual: "no banner" }]);
});

test.each([
  // Strings that no script is seen to show.
  `<script>console.log(TEXT)</script>`,
  `<script>el.title = TEXT; document.body.append(el)</script>`,
  `<script>config.i18n = { en: { "primaryauth.title": TEXT } };</script>`,
  `<script>alert("hello"), x = TEXT</script>`,
  `<script>el.innerHTML = "hello"; TEXT</script>`,
  `<script>x = "<script>alert('BANNER')<\\/script>"</script>`,
  `<script type="application/json">BANNER</script>`,
  `<script nomodule>alert("BANNER")</script>`,
  `<script>{{!-- alert("BANNER") --}}</script>`,
  `{{!-- <p>BANNER</p> --}}`,
  `{{! BANNER }}`,
  // Scripts that may show it, or hide it.
  `<div hidden id="notice">BANNER</div><script>document.getElementById("notice").hidden = false</script>`,
  `<div hidden id="dod-notice">BANNER</div><script>show("#dod-" + "notice")</script>`,
  `<div class="modal notice" style="display:none">BANNER</div><script>$(".notice").fadeIn()</script>`,
  `<template>BANNER</template><script>show(document.querySelector("template").content)</script>`,
  `<template id="t"><script>alert(TEXT)</script></template><script>show("t")</script>`,
  `<div id="notice">BANNER</div><script>document.getElementById('notice').style.display = 'none'</script>`,
  `<div class="box notice"><p>BANNER</p></div><script>$("div.notice").remove()</script>`,
  `<script src="https://www.agency.mil/banner.js"></script>`,
  `<body onload='alert(TEXT)'>`,
  `<body onload="document.getElementById('notice').hidden = false"><div hidden id="notice">BANNER</div>`,
  `<body onload="document.getElementById('notice').remove()"><div id="notice">BANNER</div>`,
  `<iframe srcdoc="BANNER"></iframe>`,
  `<script>document.write('<iframe src="/notice"></iframe>')</script>`,
  // Elements and attributes.
  `<details><summary>Notice</summary>BANNER</details>`,
  `<div style="display: none; display: block">BANNER</div>`,
  ..."dialog textarea iframe marquee".split(" ").map((tag) => `<${tag}>BANNER</${tag}>`),
  `<svg><defs><text>BANNER</text></defs></svg>`,
  `<svg><text opacity="0">BANNER</text></svg>`,
  `<dialog><div id="notice"></div></dialog><script>document.getElementById("notice").innerHTML = TEXT</script>`,
  `<div popover>BANNER</div>`,
  `<ruby>x<rp>BANNER</rp></ruby>`,
])("%s may show it: needs_review", (page) => {
  expect(judge(withBanner(page))).toMatchObject(needsReview);
});

const needsReview = { status: "MANUAL", reason: "needs_review" };

describe("a banner that a style may hide is for a person", () => {
  const styles = (list: string) => list.split("; ").map((style) => [style]);

  test.each(
    styles(
      "opacity: 0; opacity: .49; opacity: 49%; zoom: 0.1; font-size: 0; font-size: 5.9px; font-size: 4pt; font-size: .3em; font: 0/0 a; " +
        "font: bold 1px/2 serif; height: 0; max-height: 50px; width: 0%; max-width: 0em; left: -9999px; top: -1px; left: 1000px; " +
        "right: 100vw; text-indent: -99em; margin: 0 0 0 -5000px; inset: 0 0 0 -100%; clip: rect(0,0,0,0); -webkit-clip-path: inset(50%); " +
        "transform: scale(0); scale: 0; filter: opacity(0); mask: url(x.svg); color: transparent; color: rgba(0,0,0,.29); " +
        "color: #0000; color: #ffffff4c; color: rgb(0 0 0 / 10%); content-visibility: hidden; opacity: var(--seen); height: calc(1px - 1px); " +
        "text-overflow: ellipsis; {{noticeStyle}}; display: {{shown}}; OPACITY:0!important; visi\\62 ility: var(--x)",
    ),
  )("with the style %s", (style) => {
    const result = judge(`<div style="${style}"><p>${banner}</p></div>`);
    expect(result).toMatchObject(needsReview);
    if (!/[\\{]/.test(style))
      expect(result.findings[0]?.actual).toContain(
        /[a-z-]+(?=:)/i.exec(style.replace("-webkit-", ""))?.[0].toLowerCase(),
      );
  });

  test.each(
    styles(
      "opacity: .5; opacity: 50%; zoom: 0.5; font-size: 6px; font-size: .5em; font: bold 14px/1 serif; font: 700 .8rem/0 x; height: 60px; " +
        "width: 100%; max-height: none; left: 0; top: 999px; margin: 1em auto; text-indent: 2em; clip: auto; clip-path: none; transform: none; " +
        "filter: inherit; color: #fff; color: #000000ff; color: rgba(0,0,0,.3); color: rgb(1 2 3); content-visibility: auto; display: block; " +
        "visibility: visible; background: {{bgImageUrl}}; background: url('x;opacity:0'); --opacity: 0; line-height: 0.9",
    ),
  )("but not with the style %s", (style) => {
    expect(judge(`<div style="${style}"><p>${banner}</p></div>`).status).toBe("PASS");
  });

  const notice = `<main><div id="notice" class="box Dod" data-x="1"><p>${banner}</p></div></main>`;
  test.each([
    `DIV.box.dod#notice[data-x="2"]{visibility:hidden}`,
    `* { color: transparent }`,
    `aside > section .box:not(.open, .seen) { display: none }`,
    `.dod | .x { display: none }`,
    `.{{name}} { display: none }`,
    `.x { color: red } {{moreStyles}}`,
  ])("with the style sheet %s", (css) => {
    expect(judge(`<style>${css}</style>${notice}`)).toMatchObject(needsReview);
    const written = JSON.stringify(`<style>${css}</style>`);
    expect(judge(`${notice}<script>document.write(${written})</script>`)).toMatchObject(needsReview);
  });

  test.each([
    `.other, #other, section, [lang], .box.other { display: none }`,
    `.dod::before, .dod:after { display: none }`,
    `@keyframes x { 50% { opacity: 0 } } @font-face { font-family: x; width: 0 }`,
  ])("but not with the style sheet %s", (css) => {
    expect(judge(`<style>${css}</style>${notice}`)).toMatchObject({ status: "PASS" });
  });
});

describe("what a page loads from elsewhere", () => {
  test.each([
    [`<link rel="stylesheet" href="/site.css">`, "partly_automated"],
    [`<style>@import "site.css";</style>`, "partly_automated"],
    [`<script src="https://a.example/x.js"></script>`, "partly_automated"],
    [`<link href="{{themedStylesUrl}}" rel="stylesheet">`, "PASS"],
    [`<script src="https://global.oktacdn.com/okta-signin-widget/7.0.0/js/okta-sign-in.min.js"></script>`, "PASS"],
  ])("%s: %s", (markup, outcome) => {
    const result = judge(`<head>${markup}</head>${banner}`);
    expect(result.reason ?? result.status).toBe(outcome);
    const sentence = "Attempt to log in to the Okta tenant and verify";
    expect(result.detail.includes(sentence)).toBe(outcome !== "PASS");
  });
});

describe("Okta's own template of a page", () => {
  const template = recorded.response.body.pageContent;
  const withScript = (code: string) => template.replace("</head>", `<script>${code}</script></head>`);

  test("Okta's template with a dialog that shows the banner PASSes", () => {
    expect(judge(withScript(`alert(${JSON.stringify(banner)})`)).status).toBe("PASS");
    expect(judge(template).findings).toMatchObject([{ status: "FAIL", actual: "no banner" }]);
  });

  test("shows what is in its body: sections of styles are read, and no rule of their own", () => {
    expect(judge(template.replace("<body>", `<body><p>${banner}</p>`)).status).toBe("PASS");
    const hiding = template.replace("font-size: 87.5%;", "opacity: 0;").replace("<body>", `<body><p>${banner}</p>`);
    expect(outcomeOf(judge(hiding))).toBe("needs_review");
    const withDialog = hiding.replace("</head>", `<script>alert(${JSON.stringify(banner)})</script></head>`);
    expect(judge(withDialog).status).toBe("PASS");
  });
});

test("a page without one of its sentences FAILs, and names it", () => {
  for (const sentence of bannerSentences) {
    const result = judge(`<p>${bannerSentences.filter((text) => text !== sentence).join(" ")}</p>`);
    expect(result.status).toBe("FAIL");
    expect(result.findings[0]?.actual).toContain(sentence.replace(/^-/, "").slice(0, 40));
  }
});

test("DISA's short form, and every sentence but not in order, need review", () => {
  for (const page of ["I've read &amp; consent to terms in IS user agreem't.", bannerSentences.toReversed().join(" ")])
    expect(outcomeOf(judge(page))).toBe("needs_review");
});

describe("the pages of the brands", () => {
  test("the pages of brands are judged one by one; an uncustomized one FAILs with a note", () => {
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

  test.each<[what: string, brand: JsonObject, isLeftOut: boolean]>([
    ["no domain", { isDefault: false, domains: [] }, true],
    ["no domain, of a brand that may be the default one", { domains: [] }, false],
    ["a domain that can be read, and one that cannot", { isDefault: false, domains: [{}, { id: "OcD1" }] }, false],
  ])("with %s", (_, fields, isLeftOut) => {
    const pageOf = (content: string) => obtained({ kind: "customized" as const, content });
    const one = { brand: { id: "b1", name: "Unseen", ...fields }, page: pageOf("bare") };
    const other = { brand: { id: "b2", name: "Seen", isDefault: true }, page: pageOf(banner) };
    const result = evaluate(check, { brand_sign_in_pages: obtained([one, other]) });
    expect(result.status).toBe(isLeftOut ? "PASS" : "FAIL");
    expect(/left out.*: "Unseen"\.$/.test(result.detail)).toBe(isLeftOut);
    const alone = evaluate(check, { brand_sign_in_pages: obtained([one]) });
    expect([alone.status, alone.reason]).toEqual(isLeftOut ? ["MANUAL", "missing_role"] : ["FAIL", null]);
  });

  const own = (id: string, fields: JsonObject, content: unknown) => ({
    brand: { id, name: id, ...fields },
    page: obtained({ kind: typeof content === "string" ? ("customized" as const) : ("default" as const), content }),
  });
  const custom = (content: unknown) => own("custom", { isDefault: false, domains: [{ id: "OcD1" }] }, content);

  test.each<[what: string, ours: BrandSignInPage, subdomain: unknown, outcome: string]>([
    ["another brand's page has the banner", custom(banner), null, "partly_automated"],
    ["another brand's page has none", custom("bare"), null, "FAIL"],
    ["the default brand has a page of its own, without it", custom(banner), "bare", "FAIL"],
    ["the default brand has a page of its own, with it", custom(banner), banner, "PASS"],
    ["the other brand has no domain", own("draft", { isDefault: false, domains: [] }, null), null, "FAIL"],
    ["the domains of the other are unread", own("other", { isDefault: false }, banner), null, "unreadable"],
  ])("where %s", (_, ours, subdomain, outcome) => {
    const result = evaluate(check, {
      brand_sign_in_pages: obtained([own("default", { isDefault: true }, subdomain), ours]),
    });
    expect(result.reason ?? result.status).toBe(outcome);
    if (outcome === "partly_automated")
      expect(result).toMatchObject({
        automated: "PASS",
        detail: expect.stringContaining("cannot show a banner. Verify that nobody signs in there.") as string,
      });
  });

  test("a list that breaks off before the other brands proves nothing about the default one", () => {
    const seen = [own("default", { isDefault: true }, null)];
    expect(outcomeOf(evaluate(check, { brand_sign_in_pages: obtained(seen) }))).toBe("FAIL");
    const cut = missing("missing_role", "the next page was refused", seen);
    expect(outcomeOf(evaluate(check, { brand_sign_in_pages: cut }))).toBe("missing_role");
  });
});

function judge(content: unknown) {
  const page = obtained({ kind: "customized" as const, content });
  return evaluate(check, { brand_sign_in_pages: obtained([{ brand: { id: "bnd1", name: "acme" }, page }]) });
}

test("many declarations that hide a long list of elements do not make a page unreadable", () => {
  const style = `${"a,".repeat(2000)}a{${"display:none;".repeat(2000)}}`;
  expect(judge(`<style>${style}</style>${banner}`).status).toBe("PASS");
});

const scriptThatWrites = (page: unknown) => {
  const text = String(page)
    .replaceAll("\\", String.raw`\x5c`)
    .replaceAll('"', String.raw`\x22`);
  return `<script>document.write("${text.replaceAll("</", String.raw`<\x2f`)}")</script>`;
};

test.each([
  ["too long", "x".repeat(4_194_305)],
  ["of tags that repeat one another", Array.from({ length: 60_000 }, (_, index) => `<p><font a${index}></p>`).join("")],
  ["of too many elements", "<i>".repeat(300_000)],
  ["of scripts that write scripts", Array.from({ length: 300 }).reduce(scriptThatWrites, banner) as string],
])("a page that is %s is unreadable, and the other brands are still judged", (_, page) => {
  const brand = (id: string, content: string) => ({
    brand: { id },
    page: obtained({ kind: "customized" as const, content }),
  });
  const result = evaluate(check, { brand_sign_in_pages: obtained([brand("b1", page), brand("b2", banner)]) });
  expect(result.findings.map(({ status, reason }) => [status, reason])).toEqual([
    ["MANUAL", "unreadable"],
    ["PASS", null],
  ]);
});
