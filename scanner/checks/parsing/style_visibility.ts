/** Styles that can hide text, read from CSS without rendering it. What cannot be evaluated counts as hiding. */

export interface Hiding {
  /** `hidden`: certainly not displayed. `doubtful`: a reader may not see it. */
  readonly kind: "hidden" | "doubtful";
  /** The declaration, as `opacity: 0`. */
  readonly reason: string;
}

/** Parts of a page that Okta's template language shows or not: what is between the tags is read. */
const section = /\{\{[#/^][^{}]*\}\}/g;
const template = /\{\{\{?[^{}]*\}?\}\}/g;
/** Stands for a value that is not known. */
const anyValue = "var(--)";

/** A template, `{{bgImageUrl}}`, could be anything. */
function withoutTemplates(css: string): string {
  return css.replaceAll(section, " ").replaceAll(template, anyValue);
}

/** Returns how the declarations of a `style` attribute hide an element; null if they do not. */
export function hidingOf(style: string): Hiding | null {
  const declarations = readBlocks(withoutTemplates(style))[0]?.declarations ?? [];
  for (const property of ["display", "visibility"]) {
    const values = declarations.filter(([name]) => name === property).map(([, value]) => value);
    // Another declaration of the same property may win.
    if (values.length > 0 && values.every(hidingValues.get(property) ?? (() => false)))
      return { kind: "hidden", reason: `${property}: ${values[0]}` };
  }
  const hiding = declarations.find(([property, value]) => canHide(property, value));
  return hiding === undefined ? null : { kind: "doubtful", reason: hiding.join(": ") };
}

/** More names than a real page needs to compare. */
const maxComparisons = 10_000_000;

/**
 * The rules of a page's style sheets that can hide text. Only the rightmost part of a selector is compared; combinators
 * and pseudo-classes count as fitting, and so does every condition of `@media` and `@supports`.
 */
export class HidingRules {
  /** By the last of their names, so that most elements are compared with few of them; by `*` those without names. */
  readonly #compounds = new Map<string, Compound[]>();
  #comparisons = 0;
  /** True if a style sheet imports another one, which is not read. */
  importsMore = false;

  add(styleSheet: string): void {
    const css = withoutTemplates(styleSheet);
    // In the place of a rule a template may be any rule.
    if (/(?:^|[};])\s*var\(--\)/.test(css)) this.#add([], "a template in a style of the page");
    for (const { selector, declarations, isImport } of readBlocks(css)) {
      this.importsMore ||= isImport;
      const hiding = declarations.find(([property, value]) => canHide(property, value));
      if (selector === null || hiding === undefined) continue;
      for (const names of compoundsOf(selector)) this.#add(names, `a style of the page, ${hiding.join(": ")}`);
    }
  }

  #add(names: readonly string[], reason: string): void {
    const key = names.at(-1) ?? "*";
    const others = this.#compounds.get(key) ?? [];
    others.push({ names, reason });
    this.#compounds.set(key, others);
  }

  /** Why an element of these names may be hidden; null where no rule fits. Throws `RangeError` after too many comparisons. */
  reasonToHide(names: ReadonlySet<string>): string | null {
    for (const key of ["*", ...names]) {
      for (const compound of this.#compounds.get(key) ?? []) {
        this.#comparisons += 1 + compound.names.length;
        if (this.#comparisons > maxComparisons) throw new RangeError("a page with too many styles to compare");
        if (compound.names.every((name) => names.has(name))) return compound.reason;
      }
    }
    return null;
  }
}

interface Compound {
  /** All lower-case: `div`, `#id`, `.class`, `[attribute`. A compound without names fits every element. */
  readonly names: readonly string[];
  readonly reason: string;
}

type Declaration = readonly [property: string, value: string];

interface Block {
  /** Null outside of every rule: a style sheet itself, or the text of a `style` attribute. */
  readonly selector: string | null;
  readonly declarations: Declaration[];
  isImport: boolean;
}

const cssToken =
  /\/\*[^]*?(?:\*\/|$)|"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?|url\([^"')]*\)?|\\[^]|[^"'\\/{}();[\]u]+|[^]/giy;
// Their blocks hold no rules for elements.
const otherRules = /^@(?:-\w+-)?(?:keyframes|starting-style)\b/i;

/** The blocks of CSS with their declarations, the text outside of every rule first. Never fails. */
function readBlocks(css: string): readonly Block[] {
  const blocks: Block[] = [{ selector: null, declarations: [], isImport: false }];
  const open: (Block | undefined)[] = [blocks[0]];
  let text = "";
  let depth = 0;
  const end = (): void => {
    const block = open.at(-1);
    const declaration = text.trim();
    text = "";
    if (block === undefined || declaration === "") return;
    if (declaration.startsWith("@")) block.isImport ||= /^@import\b/i.test(declaration);
    else block.declarations.push(declarationOf(declaration));
  };
  for (const [token] of css.matchAll(cssToken)) {
    if (token === "(" || token === "[") depth += 1;
    if (token === ")" || token === "]") depth = Math.max(0, depth - 1);
    if (depth === 0 && token === ";") end();
    else if (depth === 0 && token === "}") {
      end();
      if (open.length > 1) open.pop();
    } else if (depth === 0 && token === "{") {
      const prelude = text
        .trim()
        .replace(/^<!--|-->$/g, "")
        .trim();
      text = "";
      const parent = open.at(-1);
      const selector = prelude.startsWith("@") ? (parent?.selector ?? null) : prelude;
      const block =
        parent === undefined || otherRules.test(prelude) ? undefined : { selector, declarations: [], isImport: false };
      if (block !== undefined) blocks.push(block);
      open.push(block);
    } else if (!token.startsWith("/*")) text += token;
  }
  end();
  return blocks;
}

function declarationOf(text: string): Declaration {
  const [, property = "", value = ""] = /^([^:]*):?([^]*)$/.exec(unescaped(text).toLowerCase()) ?? [];
  return [property.trim().replace(/^-(?:webkit|moz|ms|o)-/, ""), value.replace(/!\s*important\s*$/, "").trim()];
}

function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replaceAll(/\\(?:([0-9a-f]{1,6})\s?|([^]))/gi, (_, hex?: string, char?: string) => {
    const code = Number.parseInt(hex ?? "", 16);
    return char ?? (code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : " ");
  });
}

const selectorToken =
  /(?<comma>\s*,\s*)|(?<combinator>\s*[\s>+~]\s*)|(?<name>[.#]?(?:\\[0-9a-f]{1,6}\s?|\\[^]|[-\w\u0080-\uFFFF])+)|(?<pseudo>::?[-\w]+)|\[\s*(?<attribute>[-\w]+)\s*(?:[~|^$*]?=(?:"[^"]*"|'[^']*'|[^\]"'])*)?\]|(?<nesting>[*&])|[^]/giy;
const pseudoElement = /^:(?::|before|after|first-line|first-letter)/i;

/**
 * The names in the rightmost part of each selector of a list, without selectors of pseudo-elements. A selector that cannot
 * be read fits everything, so it has no names.
 */
function compoundsOf(selector: string): readonly (readonly string[])[] {
  const compounds: string[][] = [[]];
  let isPseudoElement = false;
  let depth = 0;
  const last = (): string[] => compounds.at(-1) ?? [];
  const end = (): void => {
    if (isPseudoElement) compounds.pop();
    isPseudoElement = false;
  };
  for (const { 0: token, groups = {} } of selector.trim().matchAll(selectorToken)) {
    if (token === "(") depth += 1;
    else if (token === ")") depth -= 1;
    // Selectors inside `:not(…)` are part of a pseudo-class.
    else if (depth > 0) continue;
    else if (groups["comma"] !== undefined) {
      end();
      compounds.push([]);
    } else if (groups["combinator"] !== undefined) last().length = 0;
    else if (groups["pseudo"] !== undefined) isPseudoElement ||= pseudoElement.test(token);
    else if (groups["attribute"] !== undefined) last().push(`[${groups["attribute"].toLowerCase()}`);
    else if (groups["name"] !== undefined) last().push(unescaped(token).toLowerCase());
    else if (groups["nesting"] === undefined || depth < 0) return [[]];
  }
  end();
  return selector.includes(anyValue) ? [[]] : compounds;
}

// Functions whose value depends on more than the declaration.
const unknownValue = /\b(?:var|calc|env|attr|min|max|clamp|color-mix|light-dark|if)\(/;

function canHide(property: string, value: string): boolean {
  // Text that is not a declaration, such as a template that could be several.
  if (value === "") return property.includes(anyValue);
  const hides = hidingValues.get(property);
  return hides !== undefined && (unknownValue.test(value) || hides(value));
}

const isSmall = (value: string): boolean => lengthsIn(value).some((length) => length <= 1);
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
  ...each("height width max-height max-width block-size inline-size max-block-size max-inline-size", isSmall),
  ...each(
    "left top right bottom text-indent margin margin-left margin-top margin-right margin-bottom margin-inline " +
      "margin-inline-start margin-inline-end margin-block margin-block-start margin-block-end inset inset-inline " +
      "inset-inline-start inset-inline-end inset-block inset-block-start inset-block-end",
    isOffScreen,
  ),
  ...each("clip clip-path transform translate scale rotate filter mask mask-image", isSet),
  ...each("color text-fill-color", isTransparent),
  ["fill", (value: string) => value === "none" || isTransparent(value)],
]);

function each<Value>(names: string, value: Value) {
  return names.split(" ").map((name) => [name, value] as const);
}

function isTiny(value: string): boolean {
  // A percentage is one of the font.
  const [size] = lengthsIn(value.replaceAll("%", "ppt"));
  return size !== undefined && size < 6;
}

// In pixels, for a font of 16 and a screen of 1000 of them.
const pixelsPerUnit: ReadonlyMap<string, number> = new Map([
  ...each("em rem pc lh rlh cap ic", 16),
  ...each("% vw vh vi vb vmin vmax", 10),
  ...each("ex ch", 8),
  ...Object.entries({ pt: 4 / 3, in: 96, cm: 37.8, mm: 3.78, q: 0.945, ppt: 0.16 }),
]);

function lengthsIn(value: string): readonly number[] {
  const lengths = value.matchAll(/(?<![\w.#-])([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(%|[a-z]*)/g);
  return [...lengths].map(([, number, unit = ""]) => {
    return Number(number) * (pixelsPerUnit.get(unit.replace(/^[sld]v|^cq/, "v")) ?? 1);
  });
}

function isTransparent(value: string): boolean {
  if (value === "transparent") return true;
  const hex = /^#[0-9a-f]{3}([0-9a-f])$|^#[0-9a-f]{6}([0-9a-f]{2})$/.exec(value);
  if (hex !== null) return Number.parseInt(hex[1] ?? hex[2] ?? "", 16) / (hex[1] === undefined ? 255 : 15) < 0.3;
  const alpha = /^[-\w]+\([^)]*(?:\/|,[^,)]*,[^,)]*,)\s*([\d.]+%?)\s*\)$/.exec(value)?.[1];
  return alpha !== undefined && Number.parseFloat(alpha) / (alpha.endsWith("%") ? 100 : 1) < 0.3;
}
