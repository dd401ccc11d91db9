/** Styles that can hide text, read from CSS without rendering it. What cannot be evaluated counts as hiding. */

import { anyValue, withoutTemplates } from "./page_template.ts";

export interface Hiding {
  /** `hidden`: certainly not displayed. `doubtful`: a reader may not see it. */
  readonly kind: "hidden" | "doubtful";
  /** The declaration, as `opacity: 0`. */
  readonly reason: string;
}

/** Returns how the declarations of a `style` attribute hide an element; null if they do not. */
export function hidingOf(style: string): Hiding | null {
  const declarations = plainCss(style).split(";").map(declarationOf);
  for (const property of ["display", "visibility"]) {
    const values = declarations.filter(([name]) => name === property).map(([, value]) => value);
    // Another declaration of the same property may win.
    if (values.length > 0 && values.every((value) => /^(?:none|hidden|collapse)\b/.test(value)))
      return { kind: "hidden", reason: `${property}: ${values[0]}` };
  }
  const hiding = declarations.find(canHide);
  return hiding === undefined ? null : { kind: "doubtful", reason: hiding.join(": ") };
}

/**
 * Adds what the rules of a style sheet can hide: a tag, `#id`, `.class`, or `*` for everything, each with the reason. Only one name of
 * a selector's rightmost part is read; whatever else it asks for counts as fitting, and so does every condition of `@media`.
 */
export function addHidden(styleSheet: string, hidden: Map<string, string>): void {
  for (const block of plainCss(styleSheet).split("}")) {
    const start = block.lastIndexOf("{");
    const around = block.slice(0, Math.max(0, start)).split(/[{;]/);
    const selectors = around.pop() ?? "";
    if (selectors.includes(anyValue)) hidden.set("*", "a template in a style of the page");
    // Declarations of a block around this one are of a selector that is not read.
    addNames(["*"], around);
    addNames(start === -1 ? ["*"] : namesIn(selectors), block.slice(start + 1).split(";"));
  }

  function addNames(names: readonly string[], declarations: readonly string[]): void {
    const hiding = declarations.map(declarationOf).find(canHide);
    if (hiding === undefined) return;
    for (const name of names) hidden.set(name, `a style of the page, ${hiding.join(": ")}`);
  }
}

/** The most telling name in the rightmost part of each selector of a list, without pseudo-elements; `*` for what cannot be read. */
function namesIn(list: string): readonly string[] {
  if (/[@|&\\]/.test(list)) return ["*"];
  const selectors = list.replaceAll(/\([^()]*\)|\[[^[\]]*\]/g, "").split(",");
  return selectors.flatMap((selector) => {
    const compound =
      selector
        .trim()
        .split(/[\s>+~]+/)
        .at(-1) ?? "";
    if (/:(?::|before|after|first-l)/.test(compound)) return [];
    const simple = compound.replaceAll(/:[-\w]+/g, "").toLowerCase();
    const names = /^[-\w\u0080-\uFFFF.#%]+$/.test(simple) ? (simple.match(/[#.]?[^#.]+/g) ?? []) : [];
    return names.find((name) => name.startsWith("#")) ?? names.find((name) => name.startsWith(".")) ?? names[0] ?? "*";
  });
}

type Declaration = readonly [property: string, value: string];

/** CSS without templates, comments and the content of strings and addresses. */
function plainCss(css: string): string {
  const opaque = /\/\*[^]*?(?:\*\/|$)|"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?|url\([^"')]*\)?/gi;
  return withoutTemplates(css).replaceAll(opaque, (part) => (part.startsWith("/*") ? "" : '""'));
}

function declarationOf(text: string): Declaration {
  const [property = "", ...value] = text.toLowerCase().split(":");
  const plain = value
    .join(":")
    .replace(/!\s*important\s*$/, "")
    .trim();
  return [property.trim().replace(/^-(?:webkit|moz|ms|o)-/, ""), plain];
}

/** Functions whose value depends on more than the declaration, and escapes. */
const unknownValue = /\b(?:var|calc|env|attr|min|max|clamp|color-mix|light-dark|if)\(|\\/;

function canHide([property, value]: Declaration): boolean {
  // Text that is no declaration, such as a template that could be several.
  if (value === "") return property.includes(anyValue);
  if (property.includes("\\")) return true;
  const hides = hidingValues.find(([name]) => name.test(property))?.[1];
  return hides !== undefined && (unknownValue.test(value) || hides(value));
}

const hidingValues: readonly (readonly [property: RegExp, hides: (value: string) => boolean])[] = [
  [/^(?:display|visibility|content-visibility)$/, (value) => /^(?:none|hidden|collapse)/.test(value)],
  [/^(?:opacity|zoom)$/, (value) => !(Number.parseFloat(value) / (value.endsWith("%") ? 100 : 1) >= 0.5)],
  // Without the weight, and the line height.
  [/^font$/, (value) => isTiny(value.replaceAll(/\/\s*\S+|(?<![\w.])[1-9][\d.]*(?=\s|$)/g, ""))],
  [/^font-size$/, isTiny],
  [/^(?:max-)?(?:height|width|block-size|inline-size)$/, (value) => pixelsIn(value).some((length) => !(length > 1))],
  [
    /^(?:left|top|right|bottom|text-indent|margin|inset)(?:-|$)/,
    (value) => pixelsIn(value).some((length) => !(length >= 0 && length < 1000)),
  ],
  [
    /^(?:clip|clip-path|transform|translate|scale|rotate|filter|mask|mask-image)$/,
    (value) => !/^(?:none|auto|inherit|initial|unset|revert|revert-layer)$/.test(value),
  ],
  [/^(?:color|text-fill-color)$/, isTransparent],
];

function isTiny(value: string): boolean {
  // A percentage is one of the font.
  const [size = 16] = pixelsIn(value.replaceAll("%", "pct"));
  return !(size >= 6);
}

/** The lengths of a value, for a font of 16 pixels and a screen of 1000; not a number for any unit but the common ones. */
function pixelsIn(value: string): readonly number[] {
  const lengths = value.matchAll(/(?<![\w.#-])([+-]?(?:\d+\.?\d*|\.\d+))(%|[a-z]*)/g);
  return [...lengths].map(([, number, unit = ""]) => Number(number) * (pixelsPerUnit[unit] ?? Number.NaN));
}

const pixelsPerUnit: Readonly<Record<string, number>> = {
  "": 1,
  px: 1,
  pt: 1,
  em: 16,
  rem: 16,
  pct: 0.16,
  "%": 10,
  vw: 10,
  vh: 10,
};

function isTransparent(value: string): boolean {
  if (/^(?:transparent|#(?:[\da-f]{4}){1,2})$/.test(value)) return true;
  const alpha = /^[-\w]+\([^)]*(?:\/|,[^,)]*,[^,)]*,)\s*([\d.]+%?)\s*\)$/.exec(value)?.[1];
  return alpha !== undefined && Number.parseFloat(alpha) / (alpha.endsWith("%") ? 100 : 1) < 0.3;
}
