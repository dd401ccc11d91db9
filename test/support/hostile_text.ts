import { array, constantFrom, integer, oneof, type Arbitrary } from "fast-check";

/**
 * Text and JSON as a hostile provider sends them. fast-check makes no lone surrogates, whatever its unit, so text is built
 * from code units here. Two makers of the same things: an arbitrary, which shrinks, and a generator from a seed for millions.
 */

const codeUnits = [
  ..."a.A/ =<&;:0\\\"'+@-".split(""),
  ..."\0\u0001\t\n\r\u001b\u007f\u0085\u009b\u2028\u202e\u2066\ufeff\uffff\ufffd\u00ad\u200d".split(""),
  ..."\ud800\udbff\udc00\udfff".split(""),
];

const wholeTexts = [
  "",
  ".",
  "..",
  "../../oauth2/v1/token",
  "%2e%2e",
  "a/b?c#d",
  "a\ud83d",
  "\ude00a",
  "\ud800\udc00\ud800",
  "bad\u0000name",
  "\u001b[2J\u001b]0;owned\u0007",
  "x\r\n::error::forged",
  "x\n=cmd|'/c calc'!A1",
  "\t@SUM(1)",
  "\r+1",
  "\u202eevil\u2066",
  "]]><script>alert(1)</script><!--",
  "&#0;&#xD800;",
  "__proto__",
  "constructor",
  "toString",
  "ACTIVE",
  "INACTIVE",
  "ZONE",
  "ANYWHERE",
  "Default Rule",
  "saasure",
  "SUPER_ADMIN",
  "REQUIRED",
  "2026-13-45T99:99:99Z",
  "+275760-09-13T00:00:00.000Z",
  "-271821-04-20T00:00:00.000Z",
  "OU=DoD\u0000EA",
  "https://evil.example//..%2f",
  "😀".repeat(40),
];

/** Stands for `1e999` in JSON, which JSON.stringify cannot write. */
const tooLarge = "(too large)";

const oddValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1e308,
  tooLarge,
  2 ** 53 + 2,
  0.1,
  [],
  [[]],
  [null],
  {},
  { toString: 1 },
  { toString: null, valueOf: {} },
  { length: 1e9 },
  { toJSON: 1 },
  JSON.parse('{"__proto__":{"status":"ACTIVE","id":"x"}}'),
  { constructor: { prototype: {} }, hasOwnProperty: 1 },
];

/** JSON text as a server sends it: well-formed whatever is in it (`\ud800` stands there as an escape). */
export function toHostileJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(`"${tooLarge}"`, "1e999");
}

/** Every key and string in a value. */
export function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsOf(inner)]);
}

/** For properties. */
export const hostileString: Arbitrary<string> = oneof(
  array(
    oneof(
      constantFrom(...codeUnits),
      integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    ),
    {
      maxLength: 12,
    },
  ).map((units) => units.join("")),
  constantFrom(...wholeTexts),
);

export interface HostileOptions {
  readonly seed: number;
  /** How likely a field is replaced, from 0 to 1. */
  readonly rate: number;
  /** Ids that lead somewhere: with them lists share what is asked for each entry, and requests stay few. */
  readonly ids: readonly string[];
  /** Of the longest texts, one among some thousands. */
  readonly maxLength?: number;
}

export interface HostileSource {
  readonly text: () => string;
  readonly value: () => unknown;
  /** A copy of an entry in which some fields are gone, others are of any kind, and more are there. */
  readonly like: (entry: unknown) => unknown;
}

/** The same things for the same seed, some hundred thousand in a second. */
export function createHostileSource(options: HostileOptions): HostileSource {
  const { rate, ids, maxLength = 200_000 } = options;
  const random = xorshift(options.seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <Item>(items: readonly [Item, ...Item[]] | readonly Item[]): Item => items[below(items.length)] as Item;

  return { text, value: () => value(0), like };

  function text(): string {
    const kind = random();
    if (kind < 0.0002) return pick(codeUnits).repeat(below(maxLength));
    if (kind < 0.5) return pick(wholeTexts);
    const units = Array.from({ length: below(10) }, () => (random() < 0.8 ? pick(codeUnits) : anyUnit()));
    return units.join("");
  }

  function anyUnit(): string {
    return String.fromCharCode(below(0x10000));
  }

  function value(depth: number): unknown {
    const kind = random();
    if (kind < 0.5) return text();
    if (kind < 0.8 || depth > 3) return pick(oddValues);
    if (kind < 0.81) return nested(20 + below(60));
    if (kind < 0.9) return Array.from({ length: below(4) }, () => value(depth + 1));
    return Object.fromEntries(Array.from({ length: below(4) }, () => [text(), value(depth + 1)]));
  }

  /** Below the hundred levels at which a whole answer counts as unreadable. */
  function nested(levels: number): unknown {
    let inner: unknown = text();
    for (let level = 0; level < levels; level += 1) inner = level % 2 === 0 ? [inner] : { chains: inner };
    return inner;
  }

  function like(entry: unknown): unknown {
    if (Array.isArray(entry)) return entry.map((item: unknown) => (random() < rate ? value(1) : like(item)));
    if (typeof entry !== "object" || entry === null) return entry;
    const fields = Object.entries(entry).flatMap(([key, inner]): [string, unknown][] => {
      if (key === "id") return [[key, random() < rate ? value(1) : pick(ids)]];
      const kind = random();
      if (kind < rate / 4) return [];
      return [[key, kind < rate ? value(1) : like(inner)]];
    });
    if (random() < rate) fields.push([text(), value(1)]);
    return Object.fromEntries(fields);
  }
}

/** Marsaglia's xorshift: numbers from 0 up to, not including, 1, the same for a seed. */
function xorshift(seed: number): () => number {
  // It stays at zero.
  let state = seed === 0 ? 1 : seed;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  // The first numbers of neighbouring seeds are alike.
  for (let warmUp = 0; warmUp < 20; warmUp += 1) next();
  return next;
}
