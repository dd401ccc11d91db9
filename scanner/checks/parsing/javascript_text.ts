import jsTokens, { type Token } from "js-tokens";
import { TextFlow, type CodeToken } from "./script_text_flow.ts";

export interface ScriptText {
  readonly text: string;
  /** True if the script passes it on to something that shows it. */
  readonly isShown: boolean;
}

type ScriptToken = Token & CodeToken;

/** Far more than in any script that a person pastes into a sign-in page. */
const maxTokens = 1_000_000;

/**
 * The tokens of a script without blanks and comments. Never fails on invalid JavaScript; throws `RangeError` for too many
 * tokens, and where one token is so long that the engine runs out of stack.
 */
export function tokensOfScript(source: string): readonly ScriptToken[] {
  const tokens: ScriptToken[] = [];
  let startsLine = true;
  for (const token of jsTokens(source)) {
    if (/^(?:LineTerminatorSequence|HashbangComment)$/.test(token.type)) startsLine = true;
    if (/^(?:WhiteSpace|LineTerminatorSequence|\w+Comment)$/.test(token.type)) continue;
    tokens.push({ ...token, startsLine });
    if (tokens.length > maxTokens) throw new RangeError(`a script of more than ${maxTokens} tokens`);
    startsLine = false;
  }
  return tokens;
}

/**
 * The texts that a script can show: its string and template literals, unescaped, with the ones that `+` joins as one; of a
 * template with `${…}` its own words, and then those inside of it.
 */
export function textsOfScript(tokens: readonly ScriptToken[]): readonly ScriptText[] {
  const flow = new TextFlow();
  const texts: string[] = [];
  const openTemplates: number[] = [];
  // Kind of the tokens before, comments and blanks aside: a literal, or one and a `+`.
  let before: "literal" | "plus" | "else" = "else";
  const add = (text: string): number => {
    const index = before === "plus" ? texts.length - 1 : texts.push("") - 1;
    append(texts, index, text);
    flow.addText(index);
    return index;
  };
  for (const token of tokens) {
    flow.addToken(token);
    switch (token.type) {
      case "StringLiteral":
      case "NoSubstitutionTemplate":
        add(unescaped(token.value.slice(1, token.closed ? -1 : undefined)));
        before = "literal";
        break;
      case "TemplateHead":
        openTemplates.push(add(`${unescaped(token.value.slice(1, -2))} `));
        before = "else";
        break;
      case "TemplateMiddle":
        append(texts, openTemplates.at(-1) ?? 0, `${unescaped(token.value.slice(1, -2))} `);
        before = "else";
        break;
      case "TemplateTail": {
        const index = openTemplates.pop() ?? 0;
        append(texts, index, unescaped(token.value.slice(1, token.closed ? -1 : undefined)));
        // Otherwise a text from inside the template is the last one, and would be joined instead.
        before = index === texts.length - 1 ? "literal" : "else";
        break;
      }
      case "Punctuator":
      case "IdentifierName":
      case "PrivateIdentifier":
      case "NumericLiteral":
      case "RegularExpressionLiteral":
      case "Invalid":
      case "WhiteSpace":
      case "LineTerminatorSequence":
      case "SingleLineComment":
      case "MultiLineComment":
      case "HashbangComment":
        before = before === "literal" && token.value === "+" ? "plus" : "else";
    }
  }
  const shown = flow.shownTexts();
  return texts.map((text, index) => ({ text, isShown: shown.has(index) }));
}

function append(texts: string[], index: number, text: string): void {
  texts[index] = `${texts[index] ?? ""}${text}`;
}

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

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["b", "\b"],
  ["f", "\f"],
  ["v", "\v"],
  ["0", "\0"],
  // The end of a line that is escaped is no part of the text.
  ["\n", ""],
  ["\r\n", ""],
]);
