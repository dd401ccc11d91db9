/** Styles that can hide text, read from CSS without rendering it. What cannot be evaluated counts as hiding. */

/** Returns the declaration of a `style` attribute that hides an element, certainly or perhaps; null if none does. */
export function hidingOf(style: string) {
  const declarations = plain(style).split(";").map(declarationOf);
  for (const property of ["display", "visibility"]) {
    const values = declarations.filter(([name]) => name === property).map(([, value]) => value);
    // Another declaration of the same property may win.
    if (values.length > 0 && values.every(hidingValues.get(property) ?? (() => false)))
      return { isCertain: true, reason: `${property}: ${values[0]}` };
  }
  const hiding = declarations.find(canHide);
  return hiding === undefined ? null : { isCertain: false, reason: hiding.join(": ") };
}

/** A rule of a style sheet that can hide text, of which only the rightmost part of one selector is compared. */
export interface HidingRule {
  /** All lower-case: `div`, `#id`, `.class`, `[attribute`. A rule without names fits every element. */
  readonly names: readonly string[];
  readonly reason: string;
}

/** The rules that can hide text: combinators and pseudo-classes count as fitting, and so does every condition of `@media` and `@supports`. */
export function hidingRulesOf(styleSheet: string): readonly HidingRule[] {
  const css = plain(styleSheet);
  const rules: HidingRule[] = [];
  // In the place of a rule a template may be any rule.
  if (/(?:^|[};])\s*var\(--\)/.test(css)) rules.push({ names: [], reason: "a template in a style of the page" });
  /** The rules whose blocks are open; null outside of every rule. A block of `@media` in a rule is a part of it. */
  const open: ({ readonly selector: string; hides: boolean } | null)[] = [];
  for (const [, text = "", mark] of css.matchAll(/([^{};]*)([{};]|$)/g)) {
    const rule = open.at(-1) ?? null;
    const declaration = declarationOf(text);
    if (mark === "{") open.push(text.trim().startsWith("@") ? rule : { selector: text, hides: false });
    // One is enough: with each, the selectors of a long list would be read again.
    else if (rule?.hides === false && canHide(declaration)) {
      rule.hides = true;
      const reason = `a style of the page, ${declaration.join(": ")}`;
      for (const names of compoundsOf(rule.selector)) rules.push({ names, reason });
    }
    if (mark === "}") open.pop();
  }
  return rules;
}

type Declaration = readonly [property: string, value: string];

/** Stands for a value that is not known. */
const anyValue = "var(--)";
/** Parts of a page that Okta's template language shows or not: what is between the tags is read. */
const section = /\{\{[#/^][^{}]*\}\}/g;
const template = /\{\{\{?[^{}]*\}?\}\}/g;
const unstructured =
  /\/\*[^]*?(?:\*\/|$)|<!--|-->|"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?|url\([^"')]*\)?|\\(?:([0-9a-f]{1,6})\s?|([^]))/gi;
/** An escaped character is no mark of CSS. The characters from here on stand for them until the marks have been read. */
const firstEscaped = 0xe0_00;

/** CSS that its marks part: no comment, text, address or escape in it has one. A template, `{{bgImageUrl}}`, could be anything. */
function plain(css: string): string {
  return css
    .replaceAll(section, " ")
    .replaceAll(template, anyValue)
    .replaceAll(unstructured, (found, hex?: string, char?: string) => {
      if (/^[/<-]/.test(found)) return " ";
      if (!found.startsWith("\\")) return '""';
      const code = hex === undefined ? (char?.charCodeAt(0) ?? 0) : Number.parseInt(hex, 16);
      return String.fromCharCode(code < 128 ? firstEscaped + code : code);
    });
}

/** The text with its escaped characters, in lower case: names are compared without regard to it. */
function named(text: string): string {
  const plainOf = (char: string) => String.fromCharCode(char.charCodeAt(0) - firstEscaped);
  return text
    .replaceAll(/[\uE000-\uE07F]/g, plainOf)
    .trim()
    .toLowerCase();
}

function declarationOf(text: string): Declaration {
  const [, property = "", value = ""] = /^([^:]*):?([^]*)$/.exec(named(text)) ?? [];
  return [property.trim().replace(/^-(?:webkit|moz|ms|o)-/, ""), value.replace(/!\s*important\s*$/, "").trim()];
}

/**
 * The names in the rightmost part of each selector of a list, without selectors of pseudo-elements. A selector that cannot
 * be read fits everything, so it has no names.
 */
function compoundsOf(selectors: string): readonly (readonly string[])[] {
  const simple = selectors
    .replaceAll(/\[\s*([-\w]+)\s*(?:[~|^$*]?=[^[\]]*)?\]/g, "[$1")
    // Selectors inside `:not(…)` are part of a pseudo-class.
    .replaceAll(/\((?:[^()]|\([^()]*\))*\)/g, "")
    .replaceAll(/::[-\w]+|:(?:before|after|first-line|first-letter)\b/gi, "::")
    .replaceAll(/(?<!:):[-\w]+/g, "");
  if (/[^-\w\s,.#[*&>+~:%\u0080-\uFFFF]/.test(simple) || selectors.includes(anyValue)) return [[]];
  return simple
    .split(",")
    .map(rightmostOf)
    .filter((compound) => !compound.includes("::"))
    .map((compound) => (compound.match(/[.#[]?[-\w%\u0080-\uFFFF]+/g) ?? []).map(named));
}

function rightmostOf(selector: string): string {
  const parts = selector.trim().split(/[\s>+~]+/);
  return parts.at(-1) ?? "";
}

// Functions whose value depends on more than the declaration.
const unknownValue = /\b(?:var|calc|env|attr|min|max|clamp|color-mix|light-dark|if)\(/;

function canHide([property, value]: Declaration): boolean {
  // Text that is not a declaration, such as a template that could be several.
  if (value === "") return property.includes(anyValue);
  const hides = hidingValues.get(property);
  return hides !== undefined && (unknownValue.test(value) || hides(value));
}

const isSmall = (value: string): boolean => lengthsIn(value).some((length) => length <= 1);
const isShort = (value: string): boolean => lengthsIn(value).some((length) => length <= 50);
const isOffScreen = (value: string): boolean => lengthsIn(value).some((length) => length < 0 || length >= 1000);
const isFaint = (value: string): boolean => Number.parseFloat(value) / (value.endsWith("%") ? 100 : 1) < 0.5;
const isSet = (value: string): boolean => !/^(?:none|auto|inherit|initial|unset|revert|revert-layer)$/.test(value);

const hidingValues: ReadonlyMap<string, (value: string) => boolean> = new Map([
  ["display", (value: string) => value.startsWith("none")],
  ["visibility", (value: string) => /^(?:hidden|collapse)/.test(value)],
  ["content-visibility", (value: string) => value.startsWith("hidden")],
  ...each("opacity zoom", isFaint),
  ["font-size", isTiny],
  // Without the weight, and the line height.
  ["font", (value: string) => isTiny(value.replaceAll(/\/\s*\S+|(?<![\w.])[1-9][\d.]*(?=\s|$)/g, ""))],
  ...each("width max-width inline-size max-inline-size", isSmall),
  // The whole banner takes several lines, however wide they are.
  ...each("height max-height block-size max-block-size", isShort),
  ["grid-template-rows", (value: string) => /(?:^|\s)0/.test(value)],
  ...each(
    "left top right bottom text-indent margin margin-left margin-top margin-right margin-bottom margin-inline " +
      "margin-inline-start margin-inline-end margin-block margin-block-start margin-block-end inset inset-inline " +
      "inset-inline-start inset-inline-end inset-block inset-block-start inset-block-end",
    isOffScreen,
  ),
  ...each("clip clip-path line-clamp text-overflow transform translate scale rotate filter mask mask-image", isSet),
  ...each("color text-fill-color", isTransparent),
  ["fill", (value: string) => value === "none" || isTransparent(value)],
]);

function each<Value>(names: string, value: Value) {
  return names.split(" ").map((name) => [name, value] as const);
}

function isTiny(value: string): boolean {
  // A percentage is one of the font.
  const [size] = lengthsIn(value, 0.16);
  return size !== undefined && size < 6;
}

// In pixels, for a font of 16 and a screen of 1000 of them.
const pixelsPerUnit: ReadonlyMap<string, number> = new Map([
  ...each("em rem pc lh rlh cap ic", 16),
  ...each("vw vh vi vb vmin vmax", 10),
  ...each("ex ch", 8),
  ...Object.entries({ pt: 4 / 3, in: 96, cm: 37.8, mm: 3.78, q: 0.945 }),
]);

function lengthsIn(value: string, pixelsPerPercent = 10): readonly number[] {
  const lengths = value.matchAll(/(?<![\w.#-])([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(%|[a-z]*)/g);
  return [...lengths].map(([, number, unit = ""]) => {
    const pixels = pixelsPerUnit.get(unit.replace(/^[sld]v|^cq/, "v")) ?? 1;
    return Number(number) * (unit === "%" ? pixelsPerPercent : pixels);
  });
}

function isTransparent(value: string): boolean {
  if (value === "transparent") return true;
  const hex = /^#[0-9a-f]{3}([0-9a-f])$|^#[0-9a-f]{6}([0-9a-f]{2})$/.exec(value);
  if (hex !== null) return Number.parseInt(hex[1] ?? hex[2] ?? "", 16) / (hex[1] === undefined ? 255 : 15) < 0.3;
  const alpha = /^[-\w]+\([^)]*(?:\/|,[^,)]*,[^,)]*,)\s*([\d.]+%?)\s*\)$/.exec(value)?.[1];
  return alpha !== undefined && Number.parseFloat(alpha) / (alpha.endsWith("%") ? 100 : 1) < 0.3;
}
