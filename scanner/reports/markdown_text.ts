import { toLine } from "../../shared/text.ts";

const maxTextLength = 10_000;
/** Longer words are not prose; the bound also keeps the patterns quick. */
const maxWordLength = 40;
/** Letters and figures, also as `15-minute` but not as `GH-1`, with the punctuation of a sentence around them. */
const plainWord = /^["(]{0,2}[\p{L}\p{M}\p{Nd}]+(?:[-'’]\p{L}[\p{L}\p{M}\p{Nd}]*)*[")]{0,2}[,;.:]?[")]{0,2}[,;.:]?$/u;
/** A word that may be a commit's id. */
const hexWord = /^["(]*[0-9a-f]{7,}[^0-9a-z]*$/i;
/** The same punctuation around words that are not plain; what closes in them, as in `IA-2(1)`, is theirs. */
const punctuated = /^(["(]{0,2})(.+?(?:\([^()]*\))*)([")]{0,2}[,;.:]?[")]{0,2}[,;.:]?)$/su;

/**
 * Text of others as one line of Markdown in which nothing becomes markup, a link, a mention or a reference, on any site:
 * what is not a plain word stands in a code span, where no renderer looks for any of them. Escapes and entities would not
 * do, because sites look for links and mentions in the text as it is shown. No `<` of the text stands in the file as such,
 * for readers that take Markdown for HTML.
 */
export function markdownText(text: string): string {
  const parts: { readonly isPlain: boolean; readonly words: string[] }[] = [];
  for (const word of toLine(text, maxTextLength).split(/\s+/)) {
    if (word === "") continue;
    const last = parts.at(-1);
    // A number at the beginning may make a list.
    const isPlain = isPlainWord(word) && !(last === undefined && /^\d/.test(word));
    if (last?.isPlain === isPlain) last.words.push(word);
    else parts.push({ isPlain, words: [word] });
  }
  return parts.map(({ isPlain, words }) => (isPlain ? words.join(" ") : inCode(words.join(" ")))).join(" ");
}

function isPlainWord(word: string): boolean {
  return word.length <= maxWordLength && plainWord.test(word) && !hexWord.test(word);
}

/** The same for a cell of a table. A pipe ends a cell even in a code span, and renderers disagree on how it is escaped. */
export function markdownCell(text: string): string {
  return markdownText(text.replaceAll("|", "¦"));
}

function inCode(text: string): string {
  const [, before = "", code = text, after = ""] = punctuated.exec(text) ?? [];
  const parts = code.split(/([<>])/).map((part) => ({ "<": "&lt;", ">": "&gt;", "": "" })[part] ?? codeSpan(part));
  return `${before}${parts.join("")}${after}`;
}

/** Fenced by more backticks than stand together in it (https://spec.commonmark.org/0.31.2/#code-spans). */
function codeSpan(code: string): string {
  const longest = (code.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0);
  const fence = "`".repeat(longest + 1);
  const blank = longest > 0 ? " " : "";
  return `${fence}${blank}${code}${blank}${fence}`;
}
