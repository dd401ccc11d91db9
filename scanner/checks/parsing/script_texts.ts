import jsTokens, { type Token } from "js-tokens";

export interface ScriptText {
  readonly text: string;
  /** True if the script passes it on to something that shows it. */
  readonly isShown: boolean;
}

/** Far more than in any script that a person pastes into a sign-in page. */
const maxTokens = 1_000_000;

/**
 * The texts that a script can show: its string and template literals, unescaped, with the ones that `+` joins as one; of a
 * template with `${…}` its own words, and then those inside of it. Never fails on invalid JavaScript; throws `RangeError` for
 * too many tokens, and where one token is so long that the engine runs out of stack.
 */
export function textsOfScript(source: string): readonly ScriptText[] {
  const reader = new ScriptReader();
  let count = 0;
  let startsLine = true;
  for (const token of jsTokens(source)) {
    if (/^(?:LineTerminatorSequence|HashbangComment)$/.test(token.type)) startsLine = true;
    if (/^(?:WhiteSpace|LineTerminatorSequence|\w+Comment)$/.test(token.type)) continue;
    count += 1;
    if (count > maxTokens) throw new RangeError(`a script of more than ${maxTokens} tokens`);
    reader.add(token, startsLine);
    startsLine = false;
  }
  return reader.texts();
}

/** Part of a script up to a semicolon, a comma outside of brackets, or a brace. */
interface Statement {
  depth: number;
  /** The depths of the open calls that show their arguments. */
  readonly sinkDepths: number[];
  isSink: boolean;
  /** Name that the texts of the statement are assigned to. */
  target: string | null;
  lastName: string | null;
  /** True if the last name follows a dot. */
  isMember: boolean;
}

function newStatement(): Statement {
  return { depth: 0, sinkDepths: [], isSink: false, target: null, lastName: null, isMember: false };
}

/**
 * Follows the texts of a script to where they are displayed: arguments of `alert` or `.append`, values assigned to
 * `.innerHTML`, and the variables in between. Calls of the script's own functions are not followed, so a text that is not
 * found to be shown may still be.
 */
class ScriptReader {
  readonly #texts: string[] = [];
  /** The numbers of the texts that are shown, and the names whose values are. */
  readonly #shown = new Set<number | string>();
  /** The texts, by number, and the names that are assigned to a name. */
  readonly #assigned = new Map<string, (number | string)[]>();
  readonly #openTemplates: number[] = [];
  /** Kind of the token before: a literal, a `+` after one, or anything else. */
  #joining: "literal" | "plus" | "else" = "else";
  /** The three tokens before. */
  readonly #before: Token[] = [];
  readonly #blocks: Statement[] = [];
  #statement = newStatement();

  texts(): readonly ScriptText[] {
    for (const name of this.#shown) {
      // A set goes on with what is added to it meanwhile.
      for (const source of this.#assigned.get(String(name)) ?? []) this.#shown.add(source);
    }
    return this.#texts.map((text, index) => ({ text, isShown: this.#shown.has(index) }));
  }

  /** Adds the next token that is no blank and no comment; `startsLine`: a line ends before it. */
  add(token: Token, startsLine: boolean): void {
    if (startsLine && this.#statement.depth === 0 && this.#endsAtLine(token)) this.#statement = newStatement();
    if (token.type === "IdentifierName") this.#name(token.value);
    else if (token.type === "Punctuator") this.#punctuator(token.value);
    this.#before.push(token);
    if (this.#before.length > 3) this.#before.shift();
    this.#literal(token);
  }

  #literal(token: Token): void {
    const inner = (end?: number) => unescaped(token.value.slice(1, end));
    if (token.type === "StringLiteral" || token.type === "NoSubstitutionTemplate") {
      this.#addText(inner(token.closed ? -1 : undefined));
      this.#joining = "literal";
    } else if (token.type === "TemplateHead") {
      this.#openTemplates.push(this.#addText(`${inner(-2)} `));
      this.#joining = "else";
    } else if (token.type === "TemplateMiddle") {
      this.#append(this.#openTemplates.at(-1) ?? 0, `${inner(-2)} `);
      this.#joining = "else";
    } else if (token.type === "TemplateTail") {
      const index = this.#openTemplates.pop() ?? 0;
      this.#append(index, inner(token.closed ? -1 : undefined));
      // Otherwise a text from inside the template is the last one, and would be joined instead.
      this.#joining = index === this.#texts.length - 1 ? "literal" : "else";
    } else this.#joining = this.#joining === "literal" && token.value === "+" ? "plus" : "else";
  }

  #addText(text: string): number {
    const index = this.#joining === "plus" ? this.#texts.length - 1 : this.#texts.push("") - 1;
    this.#append(index, text);
    this.#flow(index);
    return index;
  }

  #append(index: number, text: string): void {
    this.#texts[index] = `${this.#texts[index] ?? ""}${text}`;
  }

  /** Notes the place that a text, or the value of a name, goes to. */
  #flow(source: number | string): void {
    const { target, isSink, sinkDepths } = this.#statement;
    if (isSink || sinkDepths.length > 0) this.#shown.add(source);
    else if (target !== null) {
      const sources = this.#assigned.get(target) ?? [];
      sources.push(source);
      this.#assigned.set(target, sources);
    }
  }

  #name(name: string): void {
    this.#flow(name);
    const owner = this.#before.at(-2);
    if (addingMethods.has(name) && this.#isAfterDot() && owner?.type === "IdentifierName") {
      this.#statement.target ??= owner.value;
    }
    this.#statement.lastName = name;
    this.#statement.isMember = this.#isAfterDot();
  }

  #punctuator(mark: string): void {
    const statement = this.#statement;
    const last = this.#before.at(-1);
    const called = last?.type === "IdentifierName" ? last.value : "";
    if (mark === "(" || mark === "[") {
      statement.depth += 1;
      const isShowing = showingFunctions.has(called) || (statement.isMember && showingMethods.has(called));
      if (mark === "(" && isShowing) statement.sinkDepths.push(statement.depth);
    } else if (mark === ")" || mark === "]") {
      if (statement.sinkDepths.at(-1) === statement.depth) statement.sinkDepths.pop();
      statement.depth = Math.max(0, statement.depth - 1);
    } else if (mark === "{") {
      this.#blocks.push(statement);
      this.#statement = newStatement();
    } else if (mark === "}") this.#statement = this.#blocks.pop() ?? newStatement();
    else if (mark === ";" || (mark === "," && statement.depth === 0)) this.#statement = newStatement();
    else if (mark === "=" || mark === "+=" || mark === ":") {
      const name = statement.lastName;
      const isKey = mark === ":" && statement.target === null && showingKeys.has(name ?? "");
      if (isKey || (mark !== ":" && statement.isMember && showingProperties.has(called))) statement.isSink = true;
      else if (mark === ":") statement.target ??= name;
      else statement.target = name;
    }
  }

  #isAfterDot(): boolean {
    const last = this.#before.at(-1);
    return last?.type === "Punctuator" && (last.value === "." || last.value === "?.");
  }

  /** True if a semicolon may be left out here: no operator joins the two tokens. */
  #endsAtLine({ type }: Token): boolean {
    const last = this.#before.at(-1);
    const joins = last?.type === "Punctuator" && !/^[)\]}]$/.test(last.value);
    return type !== "Punctuator" && !joins;
  }
}

const wordsIn = (words: string): ReadonlySet<string> => new Set(words.split(" "));

const addingMethods = wordsIn("push unshift");
const showingFunctions = wordsIn("alert confirm prompt");
const showingKeys = wordsIn("innerHTML outerHTML textContent innerText");
const showingProperties = new Set([...showingKeys, "text", "nodeValue", "srcdoc"]);
const showingMethods = wordsIn(
  "write writeln insertAdjacentHTML insertAdjacentText createTextNode append appendChild prepend before after " +
    "replaceChildren replaceWith html text",
);

const escape = /\\(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2})|\r\n|[^])/giu;

function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replaceAll(escape, (whole, braced?: string, four?: string, two?: string) => {
    const hex = braced ?? four ?? two;
    if (hex === undefined) return shortEscapes.get(whole.slice(1)) ?? whole.slice(1);
    const code = Number.parseInt(hex, 16);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : " ";
  });
}

/** The end of a line that is escaped is no part of the text. */
const shortEscapes: ReadonlyMap<string, string> = new Map(
  Object.entries({ n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", v: "\v", "0": "\0", "\n": "", "\r\n": "" }),
);
