import jsTokens, { type Token } from "js-tokens";

export interface ScriptText {
  readonly text: string;
  /** True if the script passes it on to something that shows it. */
  readonly isShown: boolean;
}

/** Far more than in any script that a person pastes into a sign-in page. */
const maxTokens = 1_000_000;

/** The texts and names in a call or after an assignment: where they go. */
interface Run {
  readonly texts: number[];
  readonly names: string[];
  /** How many brackets are open around it. */
  readonly level: number;
  readonly isCall: boolean;
  readonly isShown: boolean;
}

/**
 * The texts that a script can show: its string and template literals, unescaped, with the ones that `+` joins as one. Those are seen to
 * be shown that stand in a call of `alert` or `.append`, are assigned to `.innerHTML`, or are given to a variable that is. Calls of the
 * script's own functions are not followed, so that any other text may still be shown. Never fails on invalid JavaScript; throws
 * `RangeError` for too many tokens, and where one token is so long that the engine runs out of stack.
 */
export function textsOfScript(source: string): readonly ScriptText[] {
  const texts: string[] = [];
  const shown: Run[] = [];
  const assigned = new Map<string, Run[]>();
  /** The innermost last. Those around a `{` go on after its `}`. */
  let runs: Run[] = [];
  const blocks: (readonly [around: Run[], level: number])[] = [];
  let level = 0;
  let before: readonly Token[] = [];
  /** Texts of the templates whose inserted code is being read. */
  const open: number[] = [];
  /** The text of the last literal. */
  let newest = -1;
  let count = 0;
  let startsLine = true;
  for (const token of jsTokens(source)) {
    startsLine ||= token.type === "LineTerminatorSequence";
    if (/^(?:WhiteSpace|LineTerminatorSequence|\w+Comment)$/.test(token.type)) continue;
    count += 1;
    if (count > maxTokens) throw new RangeError(`a script of more than ${maxTokens} tokens`);
    if (startsLine && endsLine(token)) endAssignments();
    if (literals.test(token.type)) addLiteral(token);
    else if (token.type === "IdentifierName") runs.at(-1)?.names.push(token.value);
    else if (token.type === "Punctuator") addMark(token.value);
    before = [...before.slice(-2), token];
    startsLine = false;
  }
  const numbers = new Set(shown.flatMap((one) => one.texts));
  const names = new Set(shown.flatMap((one) => one.names));
  // The loop also visits names that it adds to the set.
  for (const name of names) {
    for (const run of assigned.get(name) ?? []) {
      for (const text of run.texts) numbers.add(text);
      for (const other of run.names) names.add(other);
    }
  }
  return texts.map((text, index) => ({ text, isShown: numbers.has(index) }));

  function addLiteral(token: Token): void {
    const [literal, plus] = [before.at(-2), before.at(-1)];
    const isJoined = plus?.value === "+" && literal !== undefined && literals.test(literal.type);
    const isRest = /^Template(?:Middle|Tail)$/.test(token.type);
    // Otherwise a text from inside of a template is the last one, and would be joined instead of it.
    const isLast = newest === texts.length - 1;
    const index = isRest ? (open.at(-1) ?? 0) : isJoined && isLast ? newest : texts.push("") - 1;
    newest = index;
    texts[index] = `${texts[index] ?? ""}${textOf(token)}`;
    if (!isRest) runs.at(-1)?.texts.push(index);
    if (token.type === "TemplateHead") open.push(index);
    if (token.type === "TemplateTail") open.pop();
  }

  function addMark(mark: string): void {
    if (mark === "(" || mark === "[") {
      level += 1;
      beginRun(mark);
    } else if (mark === ")" || mark === "]") {
      level = Math.max(0, level - 1);
      while ((runs.at(-1)?.level ?? 0) > level) runs.pop();
    } else if (mark === "{") {
      blocks.push([runs, level]);
      [runs, level] = [[], 0];
    } else if (mark === "}") [runs, level] = blocks.pop() ?? [[], 0];
    else if (mark === ";" || mark === ",") endAssignments();
    else beginRun(mark);
  }

  /** A call ends at its bracket, an assignment also at a comma, a semicolon, and the end of a line. */
  function endAssignments(): void {
    for (let run = runs.at(-1); run !== undefined && !run.isCall && run.level >= level; run = runs.at(-1)) runs.pop();
  }

  /** True where a semicolon may be left out before this token: no operator joins the two lines. */
  function endsLine({ type }: Token): boolean {
    const last = before.at(-1);
    return type !== "Punctuator" && (last?.type !== "Punctuator" || /^[)\]}]$/.test(last.value));
  }

  function beginRun(mark: string): void {
    const [owner, dot, name] = [before.at(-3), before.at(-2), before.at(-1)];
    if (name?.type !== "IdentifierName" || !/^(?:\(|\+?=|:)$/.test(mark)) return;
    // A colon of a condition, in what is assigned or given.
    if (mark === ":" && runs.length > 0) return;
    const isMember = dot?.type === "Punctuator" && /^\??\.$/.test(dot.value);
    const isCall = mark === "(";
    const isShowing = isCall
      ? showingFunctions.test(name.value) || (isMember && showingMethods.test(name.value))
      : mark === ":"
        ? showingKeys.test(name.value)
        : isMember && showingProperties.test(name.value);
    const isAdding = isCall && isMember && /^(?:push|unshift)$/.test(name.value);
    const target = isAdding ? owner?.value : isCall ? undefined : name.value;
    if (!isShowing && target === undefined) return;
    const isShown = isShowing || runs.at(-1)?.isShown === true;
    const run: Run = { texts: [], names: [], level, isCall, isShown };
    runs.push(run);
    if (isShown) shown.push(run);
    if (target === undefined) return;
    const others = assigned.get(target) ?? [];
    others.push(run);
    assigned.set(target, others);
  }
}

const literals = /^(?:StringLiteral|NoSubstitutionTemplate|Template(?:Head|Middle|Tail))$/;
const showingFunctions = /^(?:alert|confirm|prompt)$/;
const showingKeys = /^(?:innerHTML|outerHTML|textContent|innerText)$/;
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

/** The end of a line that is escaped is not part of the text. */
const shortEscapes: ReadonlyMap<string, string> = new Map(
  Object.entries({ n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", v: "\v", "0": "\0", "\n": "", "\r\n": "" }),
);
