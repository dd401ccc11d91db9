/** A token of a script that is no blank and no comment. */
export interface CodeToken {
  readonly type: string;
  readonly value: string;
  /** True if a line ends before it. */
  readonly startsLine: boolean;
}

/**
 * Follows the texts of a script to where they are displayed: arguments of `alert` or `.append`, values assigned to
 * `.innerHTML`, and the variables in between. Calls of the script's own functions are not followed, so a text that is not
 * found to be shown may still be.
 */
export class TextFlow {
  readonly #shown = new Set<number>();
  readonly #shownNames: string[] = [];
  /** The texts and names that are assigned to a name. */
  readonly #assigned = new Map<string, (number | string)[]>();
  readonly #before: CodeToken[] = [];
  readonly #blocks: Statement[] = [];
  #statement = newStatement();

  /** The next token of the script. */
  addToken(token: CodeToken): void {
    if (token.startsLine && this.#statement.depth === 0 && this.#endsAtLine(token)) this.#statement = newStatement();
    if (token.type === "IdentifierName") this.#name(token.value);
    else if (token.type === "Punctuator") this.#punctuator(token.value);
    this.#before.push(token);
    if (this.#before.length > 3) this.#before.shift();
  }

  /** The text of this number, or a part of it, comes next in the script. */
  addText(index: number): void {
    this.#flow(index);
  }

  shownTexts(): ReadonlySet<number> {
    const names = new Set(this.#shownNames);
    for (const name of names) {
      for (const source of this.#assigned.get(name) ?? []) {
        if (typeof source === "string") names.add(source);
        else this.#shown.add(source);
      }
    }
    return this.#shown;
  }

  #flow(source: number | string): void {
    const { target, isSink, sinkDepths } = this.#statement;
    if (isSink || sinkDepths.length > 0) {
      if (typeof source === "string") this.#shownNames.push(source);
      else this.#shown.add(source);
    } else if (target !== null) {
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
    const called = last?.type === "IdentifierName" ? last.value : null;
    if (mark === "(" || mark === "[") {
      statement.depth += 1;
      const isShowing = showingFunctions.has(called ?? "") || (statement.isMember && showingMethods.has(called ?? ""));
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
      if (isKey || (mark !== ":" && statement.isMember && showingProperties.has(called ?? ""))) statement.isSink = true;
      else if (mark === ":") statement.target ??= name;
      else statement.target = name;
    }
  }

  #isAfterDot(): boolean {
    const last = this.#before.at(-1);
    return last?.type === "Punctuator" && (last.value === "." || last.value === "?.");
  }

  /** True if a semicolon may be left out here: no operator joins the two tokens. */
  #endsAtLine({ type }: CodeToken): boolean {
    const last = this.#before.at(-1);
    const joins = last?.type === "Punctuator" && !/^[)\]}]$/.test(last.value);
    return type !== "Punctuator" && !joins;
  }
}

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

const addingMethods = new Set(["push", "unshift"]);
const showingFunctions = new Set(["alert", "confirm", "prompt"]);
const showingKeys = new Set(["innerHTML", "outerHTML", "textContent", "innerText"]);
const showingProperties = new Set([...showingKeys, "text", "nodeValue", "srcdoc"]);
const showingMethods = new Set([
  "write",
  "writeln",
  "insertAdjacentHTML",
  "insertAdjacentText",
  "createTextNode",
  "append",
  "appendChild",
  "prepend",
  "before",
  "after",
  "replaceChildren",
  "replaceWith",
  "html",
  "text",
]);
