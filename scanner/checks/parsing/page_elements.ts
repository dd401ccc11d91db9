import type { DefaultTreeAdapterTypes } from "parse5";

type Element = DefaultTreeAdapterTypes.Element;

/** Elements that a browser with scripts does not show. */
export const unshownElements = new Set("script style title noscript noembed noframes".split(" "));

/** Elements whose content is shown in part, in a way that it can be missed, or only where something fails. */
export const doubtfulElements = new Set(
  (
    "textarea select option optgroup datalist iframe object canvas video audio progress meter rp annotation annotation-xml " +
    "defs desc metadata symbol clippath mask pattern marker marquee"
  ).split(" "),
);

const frames = new Set(["iframe", "frame", "object", "embed"]);

/** Elements that part no words. */
export const inlineElements = new Set(
  "a abbr b bdi bdo big cite code data del dfn em font i ins kbd mark nobr q s samp small span strike strong sub sup time tt u var wbr".split(
    " ",
  ),
);

export function attributeOf(element: Element, name: string): string | undefined {
  return element.attrs.find((attribute) => attribute.name === name)?.value;
}

export function classesOf(element: Element): readonly string[] {
  return (attributeOf(element, "class") ?? "").split(/\s+/).filter((name) => name !== "");
}

/** Part of a page that stands elsewhere and is not read, other than the provider's own styles and widget. */
export type UnreadPart = "script" | "style" | "frame";

/** Null for an element that loads nothing. */
export function unreadPartOf(element: Element): UnreadPart | null {
  if (frames.has(element.tagName)) return "frame";
  if (element.tagName === "script") {
    const source = attributeOf(element, "src")?.trim() ?? "";
    return source === "" || /^(?:https:)?\/\/[\w.-]+\.oktacdn\.com\//.test(source) ? null : "script";
  }
  if (element.tagName === "style") return /@import\b/i.test(sourceOf(element)) ? "style" : null;
  const isStyleSheet =
    element.tagName === "link" && /(?:^|\s)stylesheet(?:\s|$)/i.test(attributeOf(element, "rel") ?? "");
  const isOwn = /^\s*\{\{\s*themedStylesUrl\s*\}\}\s*$/.test(attributeOf(element, "href") ?? "");
  return isStyleSheet && !isOwn ? "style" : null;
}

export function sourceOf(script: Element): string {
  return script.childNodes.map((child) => ("value" in child ? child.value : "")).join("");
}

/** True if a browser of today runs it: it is not data, a template, or for old browsers only. */
export function isRun(script: Element): boolean {
  const type = (attributeOf(script, "type") ?? "").trim();
  if (attributeOf(script, "nomodule") !== undefined && !/^module$/i.test(type)) return false;
  return /^(?:|module|(?:text|application)\/(?:x-)?(?:java|ecma)script|text\/(?:jscript|livescript|javascript1\.[0-5]))$/i.test(
    type,
  );
}
