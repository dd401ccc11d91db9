import { readdir, readFile, writeFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildDocs } from "../../tools/docs/build.ts";
import { parseDocument, readDocument, targetOf } from "../../tools/docs/document.ts";
import { deadLinks } from "../../tools/docs/links.ts";
import { llmsText } from "../../tools/docs/llms.ts";
import { navigation, root } from "../../tools/docs/navigation.ts";
import { renderPage, searchEntries } from "../../tools/docs/page.ts";
import { temporaryFolder } from "../support/command_line.ts";

/** Sites that documents may link to; each was looked at by hand when it came in. */
const otherSites = new Set([
  "www.contributor-covenant.org",
  "developers.cloudflare.com",
  "docs.deno.com",
  "stryker-mutator.io",
  "docs.slack.dev",
  "github.com",
  "in-toto.io",
  "jmespath.org",
  "keepachangelog.com",
  "registry.terraform.io",
  "semver.org",
  "upstash.com",
  "www.standardwebhooks.com",
  // The page and the practice org of `npm start`, and `npm run docs -- --serve`.
  "127.0.0.1",
]);

async function documents() {
  const files = (await navigation()).flatMap((group) => group.files);
  return Promise.all(files.map(readDocument));
}

test("no link of the documents is dead, and each leads into the repository or to a site that is listed", async () => {
  const all = await documents();
  expect(all.length).toBeGreaterThan(20);
  expect(all.flatMap(({ links }) => links).length).toBeGreaterThan(60);
  expect(await deadLinks(all, root)).toEqual([]);
  const hosts = all.flatMap(({ file, links }) =>
    links.filter((link) => targetOf(file, link).file === null).map((link) => new URL(link).hostname),
  );
  expect([...new Set(hosts)].filter((host) => !otherSites.has(host))).toEqual([]);
});

test("every document of the repository is on the site", async () => {
  const named = new Set((await navigation()).flatMap(({ files }) => files));
  const docs = (await readdir(join(root, "docs"))).filter((file) => file.endsWith(".md"));
  const top = (await readdir(root)).filter((file) => file.endsWith(".md"));
  expect([...top, ...docs.map((file) => `docs/${file}`)].filter((file) => !named.has(file))).toEqual([]);
});

test("llms.txt is what the documents say now: npm run docs:llms", async () => {
  expect(await readFile(join(root, "llms.txt"), "utf8")).toBe(await llmsText());
});

describe("deadLinks", () => {
  test.each([
    ["[a](other.md)", []],
    ["[a](other.md#two-words)", []],
    ["[a](#here)\n\n## Here", []],
    ["[a](https://example.com/nothing)", []],
    ["[a](missing.md)", ["a.md: missing.md leads to missing.md, which does not exist"]],
    ["![a](missing.png)", ["a.md: missing.png leads to missing.png, which does not exist"]],
    ['<img src="missing.png">', ["a.md: missing.png leads to missing.png, which does not exist"]],
    ["[a](other.md#three)", ["a.md: other.md#three names the heading #three, which other.md does not have"]],
    ["[a](#there)", ["a.md: #there names the heading #there, which a.md does not have"]],
    ["[a](../secret.md)", ["a.md: ../secret.md leads out of the repository"]],
  ])("judges %s", async (text, expected) => {
    await using folder = await temporaryFolder();
    const other = "# Other\n\n## Two words\n";
    await writeFile(join(folder.path, "other.md"), other);
    await writeFile(join(folder.path, "a.md"), text);
    expect(await deadLinks([parseDocument("a.md", text), parseDocument("other.md", other)], folder.path)).toEqual(
      expected,
    );
  });
});

test.each([
  ["## V-273186 · `signon_global`", "v-273186--signon_global"],
  ["## What a PASS rests on: all of it?", "what-a-pass-rests-on-all-of-it"],
  ["## Node's `serve` & co. (C1, M1)", "nodes-serve--co-c1-m1"],
  ["## A [link](x.md)", "a-link"],
])("the anchor of %s is GitHub's", (text, anchor) => {
  expect(parseDocument("a.md", text).headings.map((heading) => heading.anchor)).toEqual([anchor]);
});

test("two headings of one text have two anchors", () => {
  const { headings } = parseDocument("a.md", "# A\n\n# A\n\n# A\n");
  expect(headings.map(({ anchor }) => anchor)).toEqual(["a", "a-1", "a-2"]);
});

describe("the site", () => {
  const site = (files: Record<string, string>, repository: string | null) => {
    const parsed = Object.entries(files).map(([file, text]) => parseDocument(file, text));
    return {
      groups: [{ title: "Start", files: Object.keys(files) }],
      byFile: new Map(parsed.map((document) => [document.file, document])),
      repository,
    };
  };

  test("leads from page to page, and to the repository for what is no page", () => {
    const files = {
      "README.md": "# Top\n",
      "docs/a.md": "# A\n\n[top](../README.md#top) [code](../main.ts) [web](https://example.com)\n",
    };
    const linked = site(files, "https://github.com/acme/scanstream");
    const page = renderPage(parseDocument("docs/a.md", files["docs/a.md"]), linked);
    expect(page).toContain('<a href="../index.html#top">top</a>');
    expect(page).toContain('<a href="https://github.com/acme/scanstream/blob/main/main.ts">code</a>');
    expect(page).toContain('<a href="https://example.com">web</a>');
    expect(page).toContain('<h1 id="a">');
    expect(page).toContain('<a href="../docs/a.html" aria-current="page">A</a>');
    expect(renderPage(parseDocument("docs/a.md", files["docs/a.md"]), site(files, null))).toContain(" code ");
  });

  test("is searched by heading and by the text below it", () => {
    const entries = searchEntries(
      parseDocument("docs/a.md", "# A\n\nfirst\n\n## B\n\n| x |\n|---|\n| cell |\n\n- item\n\n```sh\ncommand\n```\n"),
    );
    expect(entries).toEqual([
      { page: "docs/a.html#a", title: "A", heading: "A", text: expect.stringContaining("first") },
      { page: "docs/a.html#b", title: "A", heading: "B", text: expect.stringMatching(/x cell.*item.*command/) },
    ]);
  });

  test("is built with every page, picture and document", async () => {
    await using folder = await temporaryFolder();
    const built = join(folder.path, "site");
    await mkdir(built);
    await buildDocs(built);
    const files = await readdir(built, { recursive: true });
    expect(files).toEqual(
      expect.arrayContaining([
        "index.html",
        "docs/verdicts.html",
        "docs/verdicts.md",
        "docs/images/live_light.png",
        "search.js",
        "search.json",
        "llms.txt",
      ]),
    );
    const pages = files.filter((file) => file.endsWith(".html"));
    for (const page of pages) {
      const text = await readFile(join(built, page), "utf8");
      const local = [...text.matchAll(/(?:href|src|srcset)="((?!https?:|#)[^"#\s]+)/g)].map(([, link = ""]) =>
        join(page, "..", link),
      );
      expect(local.filter((link) => !files.includes(link)).map((link) => `${page}: ${link}`)).toEqual([]);
    }
  });
});
