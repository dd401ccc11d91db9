import type { IncomingMessage, ServerResponse } from "node:http";
import { isJsonObject } from "../../shared/json.ts";
import { shorten } from "../../shared/text.ts";
import { status } from "../../test/support/answers.ts";
import type { ConformanceCase, Observed, ReportedEvent, StreamRequest, TokenIssuer } from "./case.ts";
import { findMistake, findMissing, judge } from "./judge.ts";

export interface CaseResult {
  readonly case: ConformanceCase;
  /** Null: it passed. */
  readonly mistake: string | null;
  readonly seconds: number;
}

export interface CaseTimes {
  /** Between two heartbeats, as far as the client knows. */
  readonly heartbeatMs: number;
  /** After everything was seen that should be: how long nothing else may come; long where another request would be wrong. */
  readonly quietMs: { readonly short: number; readonly long: number };
  /** For all of it. */
  readonly timeoutMs: number;
}

type Writable<Shape> = { -readonly [Field in keyof Shape]: Shape[Field] };

/** How long an answer waits for what the client should do. */
const maxAnswerWaitMs = 3000;
const over = status(204);

/** One client in one case: answers its requests, keeps what was seen, and decides. */
export class CaseRun {
  readonly case: ConformanceCase;
  readonly #times: CaseTimes;
  readonly #decision = Promise.withResolvers<CaseResult>();
  readonly #requests: Writable<StreamRequest>[] = [];
  readonly #events: ReportedEvent[] = [];
  readonly #stateReadsMs: number[] = [];
  readonly #open = new Set<ServerResponse>();
  readonly #tokens = createTokens();
  readonly #waiting = new Set<() => void>();
  #unreadable: string | null = null;
  #exit: string | null = null;
  #result: CaseResult | null = null;
  #beganMs: number | null = null;
  #deadline: NodeJS.Timeout | undefined;
  #quiet: NodeJS.Timeout | undefined;

  constructor(one: ConformanceCase, times: CaseTimes) {
    this.case = one;
    this.#times = times;
  }

  /** Resolves once; never rejects. */
  get decided(): Promise<CaseResult> {
    return this.#decision.promise;
  }

  get result(): CaseResult | null {
    return this.#result;
  }

  /** The time runs from here, or from the first request. */
  begin(): void {
    this.#beganMs ??= performance.now();
    this.#deadline ??= setTimeout(() => this.#decide(), this.#times.timeoutMs);
  }

  answerStream(request: IncomingMessage, response: ServerResponse): void {
    this.begin();
    if (this.#result !== null) return void over(response, request);
    const seen: Writable<StreamRequest> = {
      atMs: performance.now(),
      closedMs: null,
      url: request.url ?? "",
      headers: request.headers,
      status: 0,
    };
    const openedBefore = this.#requests.filter(({ status: code }) => code === 200).length;
    const answer = this.case.answers[this.#requests.length] ?? this.case.afterwards ?? over;
    this.#requests.push(seen);
    this.#open.add(response);
    // The answer is over with its last byte: the client's side of the connection may stay open.
    const close = () => {
      seen.closedMs ??= performance.now();
      this.#open.delete(response);
      this.#check();
    };
    response.once("finish", close);
    response.once("close", close);
    const { heartbeatMs } = this.#times;
    const readsBefore = this.#stateReadsMs.length;
    const run = {
      heartbeatMs,
      openedBefore,
      tokens: this.#tokens,
      nextStateRead: () => this.#until(() => this.#stateReadsMs.length > readsBefore),
      reported: (count: number) => this.#until(() => this.#events.length >= count),
    };
    void Promise.resolve(answer(response, request, run)).then(() => this.#check());
    seen.status = response.statusCode;
    this.#check();
  }

  issueToken(): string {
    return this.#tokens.issue();
  }

  readState(): void {
    this.#stateReadsMs.push(performance.now());
    this.#check();
  }

  /** One line that the client wrote. */
  report(line: string): void {
    if (line.trim() === "") return;
    const event = parseReport(line);
    if (event === null) {
      this.#unreadable ??= `it wrote ${JSON.stringify(shorten(line, 80))}: expected {"event": "…", "data": …} on every line`;
    } else {
      this.#events.push(event);
    }
    this.#check();
  }

  /** The client's process has ended, and all of its output was read: there is nothing to wait for. */
  clientEnded(exit: string): void {
    this.#exit = exit;
    this.#decide();
  }

  /** Resolves when it is so, or after a while; looked at whenever the client did something. */
  #until(isSo: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, maxAnswerWaitMs);
    const wait = () => {
      if (isSo()) resolve();
      else this.#waiting.add(wait);
    };
    wait();
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(wait);
    });
  }

  #observed(): Observed {
    return {
      requests: this.#requests,
      events: this.#events,
      stateReadsMs: this.#stateReadsMs,
      tokensIssued: this.#tokens.issuedCount(),
      unreadable: this.#unreadable,
      exit: this.#exit,
    };
  }

  #check(): void {
    for (const wait of this.#waiting) wait();
    if (this.#result !== null) return;
    const observed = this.#observed();
    if (findMistake(this.case, observed) !== null) this.#decide();
    else if (findMissing(this.case, observed) === null) this.#awaitQuiet();
  }

  #awaitQuiet(): void {
    const { short, long } = this.#times.quietMs;
    const allowsRequests = this.case.mostRequests === undefined;
    // A client that asks again and again is never quiet, and that is another case's mistake.
    if (allowsRequests && this.#quiet !== undefined) return;
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.#decide(), allowsRequests ? short : long);
  }

  #decide(): void {
    if (this.#result !== null) return;
    clearTimeout(this.#quiet);
    clearTimeout(this.#deadline);
    const seconds = (performance.now() - (this.#beganMs ?? performance.now())) / 1000;
    this.#result = { case: this.case, mistake: judge(this.case, this.#observed()), seconds };
    for (const response of this.#open) response.destroy();
    this.#decision.resolve(this.#result);
  }
}

function parseReport(line: string): ReportedEvent | null {
  try {
    const report: unknown = JSON.parse(line);
    if (!isJsonObject(report)) return null;
    const { event = "message", data } = report;
    return typeof event === "string" ? { event, data } : null;
  } catch {
    return null;
  }
}

interface Tokens extends TokenIssuer {
  issue(): string;
  issuedCount(): number;
}

function createTokens(): Tokens {
  const valid = new Map<string, boolean>();
  return {
    issue() {
      const token = `token-${valid.size}-${crypto.randomUUID()}`;
      valid.set(token, valid.size > 0);
      return token;
    },
    issuedCount: () => valid.size,
    isValid(request) {
      const inQuery = new URL(request.url ?? "/", "http://localhost").searchParams.get("access_token");
      const inHeader = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "")?.[1];
      return valid.get(inHeader ?? inQuery ?? "") === true;
    },
    revokeAll() {
      for (const token of valid.keys()) valid.set(token, false);
    },
  };
}
