import { expect, test } from "vitest";
import { obtained } from "../../scanner/evidence/artifacts.ts";
import { bannerSentences } from "../../scanner/checks/parsing/dod_banner.ts";
import { readPage } from "../../scanner/checks/parsing/page_text.ts";
import { evaluate } from "../support/artifact_builders.ts";

/** Sign-in pages that are made to keep the scanner busy. Times are the processor's: the machine may be busy with others. */

const check = "signon_dod_warning_banner_configured";
const banner = bannerSentences.join(" ");

test.each([
  ["too long", "x".repeat(4_194_305)],
  ["of tags that repeat one another", seq((index) => `<p><font a${index}></p>`, 1_000_000)],
  ["of too many elements", "<i>".repeat(300_000)],
])("a page that is %s, and the other brands are still judged", (_, page) => {
  const before = process.cpuUsage();
  const brand = (id: string, content: string) => ({
    brand: { id },
    page: obtained({ kind: "customized" as const, content }),
  });
  const result = evaluate(check, { brand_sign_in_pages: obtained([brand("b1", page), brand("b2", banner)]) });
  expect(result.findings.map(({ status, reason }) => [status, reason])).toEqual([
    ["MANUAL", "unreadable"],
    ["PASS", null],
  ]);
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(5000);
});

test.each([["<div>"], ["<b>"], ["<svg>"], ["<ruby><rt>"], ["<x-y>"]])(
  "a banner below a hundred thousand of %j is found in time",
  (tag) => {
    const before = process.cpuUsage();
    const page = tag.repeat(Math.ceil(100_000 / tag.split("<").length)) + banner;
    expect(readPage(page).possible).toBe(readPage(banner).shown);
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(4000);
  },
);

test.each([
  ["<a ", (index: number) => `a${index} `],
  ["", (index: number) => `<font a${index}>`],
  ["", (index: number) => `<x${index}>`],
  ["", () => "<table><tr><td>"],
  ["", () => "<table>x<b>"],
  ["", () => "<b><div></b>"],
  ["", () => "&#x41"],
  ["<script>", (index: number) => `'<b>${index}'+`],
  ["<script>", () => "`${"],
  ["<script>", () => "/[a"],
  ["<script>", () => "'<script>`<"],
  ["<style>", () => "</styl"],
  ["", (index: number) => `<style>.a.b${index}{opacity:0}</style><p class=a>`],
  ["<style>", () => "a{opacity:0;"],
  ["<style>", () => "a{opacity:0}"],
  ["<style>.x:not(", () => ":not("],
  ["<style>", () => "[a='"],
  ["<style>", () => "url("],
  ["<style>", () => "{{"],
  ["<p style='", () => "display:none;"],
  ["<p style='color:rgb(", () => ","],
  ["<p style='font:", () => "1 1/"],
  ["<script>", () => "if(0)"],
  ["<script>", () => "false&&{"],
  ["<script>", () => "function f(){return;"],
  ["<script>", (index: number) => `f${index}=x=>`],
  ["", (index: number) => (index === 0 ? `<script>${"x".repeat(500_000)}</script>` : `<p hidden id=a${index}>`)],
  ["<select>", () => "<option>a"],
])("a page of a million characters that begins %j is read in time", (start, part) => {
  const before = process.cpuUsage();
  expect(() => {
    try {
      readPage(start + seq(part, 1_000_000));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  }).not.toThrow();
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(5000);
});

// Nested quotes, tags and templates that never end: the time limit of the test is the assertion.
test.each([
  ['<a "'],
  ["<script"],
  ["<!--"],
  ["<script>'"],
  ["<script>`${"],
  ["<b x='"],
  ["/*"],
  ["&amp"],
  ["<script>/["],
  ['<script type="text/html">'],
  ["<script>`<script>`"],
])("a page of nothing but %j is read to its end", (part) => {
  expect(readPage(part.repeat(20_000)).possible).not.toContain("penetration");
});

/** Parts that differ, up to a length. */
function seq(part: (index: number) => string, length: number): string {
  const parts: string[] = [];
  for (let index = 0, sum = 0; sum < length; index += 1) {
    const text = part(index);
    parts.push(text);
    sum += text.length;
  }
  return parts.join("");
}
