/** A token of a script that is no blank and no comment. */
export interface CodeToken {
  readonly type: string;
  readonly value: string;
  /** Whether a line ends before it. */
  readonly startsLine: boolean;
}

/** What stands between two brackets, or the whole script. */
interface Frame {
  /** The index of the opening bracket; -1 for the script. */
  readonly start: number;
  readonly isUnreachable: boolean;
  /** Whether `if`, `for`, `while` or `with` precedes these parentheses. */
  readonly isControl: boolean;
  readonly isFalseCondition: boolean;
  /** What is unreachable: everything up to the end of the frame, of the statement, or of the expression. */
  isRestDead: boolean;
  isStatementDead: boolean;
  isExpressionDead: boolean;
  /** Whether the statement is a `return` or `throw` that no condition guards. */
  returns: boolean;
}

/**
 * Which tokens of a script never run: those behind a condition that is literally false, after a `return` or `throw` of the
 * same block, and in a function that is declared or assigned and that nothing else names (`isUsed`). Never fails on
 * invalid JavaScript.
 */
export function findUnreachable(tokens: readonly CodeToken[], isUsed: (name: string) => boolean): readonly boolean[] {
  const ends = bracketEnds(tokens);
  const script = newFrame(-1, false);
  const frames: Frame[] = [];
  let frame = script;
  let closed = script;
  const valueAt = (index: number): string => tokens[index]?.value ?? "";
  const isName = (index: number): boolean => tokens[index]?.type === "IdentifierName";
  const isAfterDot = (index: number): boolean => /^\??\.$/.test(valueAt(index - 1));

  return tokens.map(({ value }, index) => {
    if (isClosing(tokens[index])) {
      closed = frame;
      frame = frames.pop() ?? script;
      if (closed.isFalseCondition) frame.isStatementDead = true;
      else if (value === "}" && tokens[index + 1]?.type !== "Punctuator") frame.isStatementDead = false;
      return isDead(frame);
    }
    if (value === ";" || startsStatement(index)) {
      frame.isRestDead ||= frame.returns;
      frame.returns = frame.isStatementDead = frame.isExpressionDead = false;
    }
    if (/^(?:,|\|\||\?\?|:)$/.test(value)) frame.isExpressionDead = false;
    if (value === "case" || value === "default") frame.isRestDead = false;
    if (value === "return" || value === "throw") frame.returns ||= isUnguarded(index);
    if (value === "&&" || value === "?") frame.isExpressionDead ||= isFalseBefore(index);
    const dead = isDead(frame);
    if (value === "=>" && valueAt(index + 1) !== "{") frame.isStatementDead ||= functionAt(index + 1) === "unused";
    if (isOpening(tokens[index])) {
      const body = value === "{" ? functionAt(index) : null;
      const hoisted = { ...frame, isRestDead: false };
      const isUnreachable = body === "unused" || (body === "declared" ? isDead(hoisted) : dead);
      // A block is the whole statement of its condition.
      if (value === "{" && valueAt(index - 1) === ")" && closed.isFalseCondition) frame.isStatementDead = false;
      frames.push(frame);
      frame = newFrame(index, isUnreachable, {
        isControl: value === "(" && /^(?:if|for|while|with|await)$/.test(valueAt(index - 1)) && !isAfterDot(index - 1),
        isFalseCondition: value === "(" && isFalseCondition(index),
      });
    }
    return dead;
  });

  /** Whether a statement begins here without a semicolon before it: two tokens that no operator joins, on two lines. */
  function startsStatement(index: number): boolean {
    const before = tokens[index - 1];
    if (tokens[index]?.startsLine !== true || tokens[index]?.type === "Punctuator") return false;
    if (before?.value === ")") return !closed.isControl;
    return before?.type !== "Punctuator" || /^[\]}]$/.test(before.value);
  }

  function isUnguarded(index: number): boolean {
    if (valueAt(index + 1) === ":" || (frame !== script && valueAt(frame.start) !== "{")) return false;
    if (index === 0 || /^[;{}]$/.test(valueAt(index - 1))) return true;
    return startsStatement(index) && !/^(?:else|do)$/.test(valueAt(index - 1));
  }

  function isFalseCondition(index: number): boolean {
    const length = falseLiteralAt(index + 1);
    const isCondition = /^(?:if|while)$/.test(valueAt(index - 1)) && !isAfterDot(index - 1);
    return isCondition && length > 0 && /^(?:\)|&&)$/.test(valueAt(index + 1 + length));
  }

  function isFalseBefore(index: number): boolean {
    const start = falseLiteralAt(index - 2) === 2 ? index - 2 : index - 1;
    if (start < 0 || falseLiteralAt(start) !== index - start) return false;
    const starters = /^(?:[;{}()[,=:?]|=>|\|\||&&|\?\?|return|else|do|)$/;
    return tokens[start]?.startsLine === true || starters.test(valueAt(start - 1));
  }

  /** How many tokens a value takes that is false as it is written; 0 for another one. */
  function falseLiteralAt(index: number): number {
    const token = tokens[index];
    if (token === undefined) return 0;
    if (token.value === "!") return isTrueLiteral(tokens[index + 1]) ? 2 : 0;
    if (token.value === "void") return tokens[index + 1]?.type === "NumericLiteral" ? 2 : 0;
    if (token.type === "NumericLiteral") return Number(token.value.replaceAll(/_|n$/g, "")) === 0 ? 1 : 0;
    return /^(?:false|null|undefined|NaN|''|""|``)$/.test(token.value) ? 1 : 0;
  }

  /** What the body, or the arrow's expression, that begins here belongs to; null where it is no function of a name. */
  function functionAt(index: number): "declared" | "unused" | null {
    let start = index - 1;
    let name: number | null = null;
    if (valueAt(start) === "=>") {
      start = valueAt(index - 2) === ")" ? closed.start : index - 2;
    } else {
      if (valueAt(start) !== ")") return null;
      start = closed.start - 1;
      if (isName(start) && valueAt(start) !== "function") name = start--;
      if (valueAt(start) === "*") start -= 1;
      if (valueAt(start) !== "function") return null;
    }
    if (valueAt(start - 1) === "async") start -= 1;
    if (name !== null && (/^(?:[;{}]|export|default|)$/.test(valueAt(start - 1)) || startsAlone(start)))
      return isUsed(valueAt(name)) ? "declared" : "unused";
    if (valueAt(start - 1) !== "=" || !isName(start - 2)) return null;
    const isCalledAtOnce = valueAt(index) === "{" && /^(?:\(|\[|\??\.)$/.test(valueAt((ends[index] ?? index) + 1));
    return isCalledAtOnce || /^on[a-z]/.test(valueAt(start - 2)) || isUsed(valueAt(start - 2)) ? null : "unused";
  }

  function startsAlone(index: number): boolean {
    const before = tokens[index - 1];
    return tokens[index]?.startsLine === true && (before?.type !== "Punctuator" || /^[)\]]$/.test(before.value));
  }
}

function newFrame(start: number, isUnreachable: boolean, { isControl = false, isFalseCondition = false } = {}): Frame {
  const living = { isRestDead: false, isStatementDead: false, isExpressionDead: false, returns: false };
  return { start, isUnreachable, isControl, isFalseCondition, ...living };
}

function isDead({ isUnreachable, isRestDead, isStatementDead, isExpressionDead }: Frame): boolean {
  return isUnreachable || isRestDead || isStatementDead || isExpressionDead;
}

/** The index of the closing bracket by that of the opening one. */
function bracketEnds(tokens: readonly CodeToken[]): Int32Array {
  const ends = new Int32Array(tokens.length);
  const open: number[] = [];
  for (const [index, token] of tokens.entries()) {
    if (isOpening(token)) open.push(index);
    else if (isClosing(token)) ends[open.pop() ?? index] = index;
  }
  return ends;
}

function isOpening(token: CodeToken | undefined): boolean {
  return token?.type === "TemplateHead" || (token?.type === "Punctuator" && /^[([{]$/.test(token.value));
}

function isClosing(token: CodeToken | undefined): boolean {
  return token?.type === "TemplateTail" || (token?.type === "Punctuator" && /^[)\]}]$/.test(token.value));
}

function isTrueLiteral(token: CodeToken | undefined): boolean {
  if (token?.type === "NumericLiteral") return Number(token.value) !== 0;
  return token?.value === "true" || (token?.type === "StringLiteral" && token.value.length > 2);
}
