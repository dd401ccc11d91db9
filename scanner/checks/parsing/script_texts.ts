import jsTokens, { type Token } from "js-tokens";

export type ScriptText = ReturnType<typeof textsOfScript>[number];

/** A place that texts and names of a script go to: the arguments of a call, or what is assigned. */
interface Flow {
  /** True for a place that shows what it is given, and for every place inside of one. */
  readonly isShown: boolean;
  /** The variable that is assigned; null for a call. */
  readonly target: string | null;
}

const nowhere: Flow = { isShown: false, target: null };

/** A text or a name, and where it goes. */
type Going = readonly [value: string, flow: Flow];

/**
 * The texts that a script can show: its string and template literals, unescaped, with the ones that `+` joins as one. Those are seen to
 * be shown that stand in a call of `alert` or `.append`, are assigned to `.innerHTML`, or are given to a variable that is. Calls of the
 * script's own functions are not followed, so that any other text may still be shown. Never fails on invalid JavaScript; throws
 * `RangeError` where brackets are nested so deep, or one token is so long, that the engine runs out of stack.
 */
export function textsOfScript(source: string) {
  const tokens = jsTokens(source)[Symbol.iterator]();
  const texts: Going[] = [];
  const names: Going[] = [];
  // A closing bracket too many ends nothing.
  while (readGroup(nowhere) !== null);
  const givenTo = Map.groupBy(names, ([, { target }]) => target);
  const shown = new Set(names.filter(([, { isShown }]) => isShown).map(([name]) => name));
  // The loop also visits names that it adds to the set.
  for (const name of shown) for (const [given] of givenTo.get(name) ?? []) shown.add(given);
  return texts.map(([text, { isShown, target }]) => ({
    text,
    /** True if the script passes it on to something that shows it. */
    isShown: isShown || shown.has(target ?? ""),
  }));

  /** Reads to the end of brackets, or of the code in a template; returns the token that ends them, null at the end of the script. */
  function readGroup(around: Flow): Token | null {
    let flow = around;
    let before: readonly Token[] = [];
    let startsLine = false;
    for (let next = tokens.next(); next.done !== true; next = tokens.next()) {
      const token = next.value;
      const { type, value } = token;
      startsLine ||= type === "LineTerminatorSequence";
      if (/^(?:WhiteSpace|LineTerminatorSequence|\w+Comment)$/.test(type)) continue;
      const mark = type === "Punctuator" ? value : "";
      if (templateRest.test(type) || /^[)\]}]$/.test(mark)) return token;
      // An assignment ends at a comma, a semicolon, and the end of a line.
      if (/^[;,]$/.test(mark) || (startsLine && endsLine(before.at(-1), token))) flow = around;
      startsLine = false;
      let last: Token | null = token;
      if (literal.test(type)) last = readLiteral(token, flow, before);
      else if (type === "IdentifierName") names.push([value, flow]);
      else if (mark === "{") last = readGroup(nowhere);
      else if (/^[([]$/.test(mark)) last = readGroup(flowAt(mark, before, flow));
      else flow = flowAt(mark, before, flow);
      before = [...before.slice(-2), last ?? token];
    }
    return null;
  }

  /** Reads a literal, with the code in a template; a `+` before it joins it to another one. Returns its last token. */
  function readLiteral(token: Token, flow: Flow, before: readonly Token[]): Token {
    const [other, plus] = before.slice(-2);
    const isJoined = plus?.value === "+" && other !== undefined && literal.test(other.type);
    let text = `${isJoined ? (texts.pop()?.[0] ?? "") : ""}${textOf(token)}`;
    let last = token;
    while (/^Template(?:Head|Middle)$/.test(last.type)) {
      const end = readGroup(flow);
      if (end === null) break;
      if (!templateRest.test(end.type)) continue;
      text += textOf(end);
      last = end;
    }
    texts.push([text, flow]);
    return last;
  }
}

const literal = /^(?:StringLiteral|NoSubstitutionTemplate|Template(?:Head|Middle|Tail))$/;
const templateRest = /^Template(?:Middle|Tail)$/;
const showingFunctions = /^(?:alert|confirm|prompt)$/;
const showingKeys = /^(?:innerHTML|outerHTML|textContent|innerText)$/;
const showingProperties = /^(?:innerHTML|outerHTML|textContent|innerText|text|nodeValue|srcdoc)$/;
const showingMethods =
  /^(?:write|writeln|insertAdjacentHTML|insertAdjacentText|createTextNode|append|appendChild|prepend|before|after|replaceChildren|replaceWith|html|text)$/;

/** Returns where the texts after a mark go, given the tokens before it and where those go that are around. */
function flowAt(mark: string, before: readonly Token[], around: Flow): Flow {
  const [owner, dot, name] = [before.at(-3), before.at(-2), before.at(-1)];
  if (name?.type !== "IdentifierName" || !/^(?:\(|\+?=|:)$/.test(mark)) return around;
  // A colon of a condition, in what is assigned or given.
  if (mark === ":" && around !== nowhere) return around;
  const isMember = dot?.type === "Punctuator" && /^\??\.$/.test(dot.value);
  if (mark === "(") {
    const isShown = showingFunctions.test(name.value) || (isMember && showingMethods.test(name.value));
    const target = isMember && /^(?:push|unshift)$/.test(name.value) ? (owner?.value ?? null) : null;
    return isShown || target !== null ? { isShown: isShown || around.isShown, target } : around;
  }
  const isShown = mark === ":" ? showingKeys.test(name.value) : isMember && showingProperties.test(name.value);
  return { isShown: isShown || around.isShown, target: name.value };
}

/** True where a semicolon may be left out between two tokens: no operator joins the two lines. */
function endsLine(last: Token | undefined, { type }: Token): boolean {
  return type !== "Punctuator" && (last?.type !== "Punctuator" || /^[)\]}]$/.test(last.value));
}

/** The text between the marks of a literal, with a space in place of what a template inserts. */
function textOf({ value }: Token): string {
  const inner = value.slice(1).replace(/["'`]$/, "");
  return unescaped(inner.replace(/\$\{$/, " "));
}

const escape = /\\(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2})|\r\n|[^])/giu;

/** Words are all that counts: an escaped control character parts them, and an escaped end of a line is not there. */
function unescaped(text: string): string {
  return text.replaceAll(escape, (mark, braced?: string, four?: string, two?: string) => {
    const hex = braced ?? four ?? two;
    if (hex === undefined)
      return mark
        .slice(1)
        .replace(/^[bfnrtv0]$/, " ")
        .replace(/^\r?\n$/, "");
    const code = Number.parseInt(hex, 16);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : " ";
  });
}
