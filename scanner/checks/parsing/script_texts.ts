import jsTokens, { type Token } from "js-tokens";

export interface ScriptText {
  readonly text: string;
  /** True if the script passes it on to something that shows it. */
  readonly isShown: boolean;
}

/** Far more than in any script that a person pastes into a sign-in page. */
const maxTokens = 1_000_000;

/** Operands that `+` joins (or commas part), from the token after a call, or after an assignment. */
interface Run {
  readonly texts: number[];
  readonly names: string[];
  readonly isCall: boolean;
}

/**
 * The texts that a script can show: its string and template literals, unescaped, with the ones that `+` joins as one. Those are seen to
 * be shown that stand right in a call of `alert` or `.append`, are assigned to `.innerHTML`, or are assigned to a variable that does; of
 * any other text a person has to find out. Never fails on invalid JavaScript; throws `RangeError` for too many tokens, and where one
 * token is so long that the engine runs out of stack.
 */
export function textsOfScript(source: string): readonly ScriptText[] {
  const texts: string[] = [];
  const shown: Run[] = [];
  const assigned = new Map<string, Run[]>();
  let run: Run | null = null;
  let before: readonly Token[] = [];
  /** Texts of the templates whose inserted code is being read. */
  const open: number[] = [];
  let count = 0;
  for (const token of jsTokens(source)) {
    if (/^(?:WhiteSpace|LineTerminatorSequence|\w+Comment)$/.test(token.type)) continue;
    count += 1;
    if (count > maxTokens) throw new RangeError(`a script of more than ${maxTokens} tokens`);
    const isLiteral = literals.test(token.type);
    const template = open.at(-1);
    const isRest = /^Template(?:Middle|Tail)$/.test(token.type);
    if (isRest && template !== undefined) texts[template] += textOf(token);
    else if (isLiteral) addText(textOf(token));
    if (token.type === "TemplateTail") open.pop();
    if (token.type === "TemplateHead") open.push(texts.length - 1);
    // A template is one operand, whatever code stands in it.
    if (template !== undefined) continue;
    if (run === null || !continues(run, token)) run = runAfter(token);
    else if (isLiteral) run.texts.push(texts.length - 1);
    else if (token.type === "IdentifierName") run.names.push(token.value);
    before = [...before.slice(-1), token];
  }
  const numbers = new Set(shown.flatMap((one) => one.texts));
  const names = new Set(shown.flatMap((one) => one.names));
  // A set goes on with what is added to it meanwhile.
  for (const name of names) {
    for (const source of assigned.get(name) ?? []) {
      for (const text of source.texts) numbers.add(text);
      for (const other of source.names) names.add(other);
    }
  }
  return texts.map((text, index) => ({ text, isShown: numbers.has(index) }));

  function addText(text: string): void {
    const [literal, plus] = [before.at(-2), before.at(-1)];
    const isJoined = plus?.value === "+" && literal !== undefined && literals.test(literal.type);
    if (isJoined) texts[texts.length - 1] = `${texts.at(-1) ?? ""}${text}`;
    else texts.push(text);
  }

  /** Operands and operators take turns. */
  function continues({ isCall }: Run, { type, value }: Token): boolean {
    const last = before.at(-1);
    const wasOperand = last !== undefined && isOperand(last.type);
    if (type === "Punctuator") return wasOperand && (value === "+" || (isCall && value === ","));
    return !wasOperand && isOperand(type);
  }

  /** The run that begins after a token; null where none does. */
  function runAfter({ value }: Token): Run | null {
    const [dot, name] = [before.at(-2), before.at(-1)];
    if (name?.type !== "IdentifierName") return null;
    const isMember = dot?.type === "Punctuator" && /^\??\.$/.test(dot.value);
    const started: Run = { texts: [], names: [], isCall: value === "(" };
    const isShowing = showingFunctions.test(name.value) || (isMember && showingMethods.test(name.value));
    if (value === "(" && isShowing) shown.push(started);
    else if (value !== "=" && value !== "+=") return null;
    else if (isMember && showingProperties.test(name.value)) shown.push(started);
    else if (!isMember) {
      const others = assigned.get(name.value) ?? [];
      others.push(started);
      assigned.set(name.value, others);
    }
    return started;
  }
}

const literals = /^(?:StringLiteral|NoSubstitutionTemplate|Template(?:Head|Middle|Tail))$/;

function isOperand(type: Token["type"]): boolean {
  return type === "IdentifierName" || literals.test(type);
}

const showingFunctions = /^(?:alert|confirm|prompt)$/;
const showingProperties = /^(?:innerHTML|outerHTML|textContent|innerText|text|nodeValue|srcdoc)$/;
const showingMethods =
  /^(?:write|writeln|insertAdjacentHTML|insertAdjacentText|createTextNode|append|appendChild|prepend|before|after|replaceChildren|replaceWith|html|text)$/;

/** The text between the marks of a literal, with a space in place of what a template inserts. */
function textOf({ value }: Token): string {
  const inner = value.slice(1).replace(/["'`]$/, "");
  return unescaped(inner.replace(/\$\{$/, " "));
}

const escape = /\\(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2})|\r\n|[^])/giu;

function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replaceAll(escape, (mark, braced?: string, four?: string, two?: string) => {
    const hex = braced ?? four ?? two;
    if (hex === undefined) return shortEscapes.get(mark.slice(1)) ?? mark.slice(1);
    const code = Number.parseInt(hex, 16);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : " ";
  });
}

/** The end of a line that is escaped is no part of the text. */
const shortEscapes: ReadonlyMap<string, string> = new Map(
  Object.entries({ n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", v: "\v", "0": "\0", "\n": "", "\r\n": "" }),
);
