import { parentPort } from "node:worker_threads";

/**
 * A worker thread that runs regular expressions on texts made against them, and answers the longest that one took, in
 * milliseconds of the processor (the machine may be busy with others). Its owner ends it when no answer comes.
 */

export interface TimedRegex {
  readonly source: string;
  readonly flags: string;
  /** Of the longest text that it is tried on. */
  readonly maxLength: number;
}

interface Parts {
  readonly letters: readonly string[];
  readonly words: readonly string[];
  /** Begins as a match does. */
  readonly sample: string;
}

/** The literal characters of a pattern, and its words: what a text has to repeat to keep a backtracking engine busy. */
function partsOf(source: string): Parts {
  const plain = source
    .replaceAll(/\\p\{[^}]*\}|\\[bB]|\(\?<?[:=!]|\{\d+(?:,\d*)?\}/g, "\0")
    .replaceAll(/\\u\{?([0-9a-fA-F]{4,6})\}?|\\x([0-9a-fA-F]{2})/g, (_, long?: string, short?: string) =>
      String.fromCodePoint(Number.parseInt(long ?? short ?? "0", 16)),
    )
    .replaceAll(/\\([sdwSDWnrt])/g, (_, kind: string) => classes[kind] ?? "a")
    .replaceAll(/\\(.)/g, "$1");
  const letters = new Set(` ./a0-_A,;\t\n${plain.replaceAll(/[\0^$+*?|()[\]{}]/g, "")}`.split(""));
  for (const letter of "[](){}+*?^$|") if (source.includes(`\\${letter}`)) letters.add(letter);
  const words = [...new Set(plain.match(/[\w:@/"<-]{2,}/g) ?? [])].slice(0, 4);
  const sample = plain.replaceAll(/\[\^?(.)[^\]]*\]/g, "$1").replaceAll(/[\0^$+*?()]/g, "");
  return { letters: [...letters].slice(0, 40), words, sample: sample.slice(0, 40) };
}

const classes: Readonly<Record<string, string>> = { s: " ", d: "0", w: "a", n: "\n", r: "\r", t: "\t" };

/** Repeats with an end that matches nothing; combinations are shorter, which is long enough to tell n from n². */
function* attacksOn({ source, maxLength }: TimedRegex): Generator<string> {
  const { letters, words, sample } = partsOf(source);
  const end = "\u0001\uFFFF";
  const fill = (unit: string, length: number) => unit.repeat(Math.ceil(Math.min(length, maxLength) / unit.length));
  for (const letter of letters) yield fill(letter, 80_000) + end;
  for (let cut = 2; cut <= sample.length; cut += 2) yield fill(sample.slice(0, cut), 40_000) + end;
  for (const word of words) {
    yield fill(word, 80_000) + end;
    for (const letter of letters.slice(0, 12)) {
      yield fill(word + letter, 40_000) + end;
      yield word + fill(letter, 40_000) + end;
    }
  }
  for (const one of letters.slice(0, 6))
    for (const other of letters.slice(0, 16)) yield fill(one + other, 20_000) + end;
}

parentPort?.postMessage("ready", []);
parentPort?.on("message", (regex: TimedRegex) => {
  let worstMs = 0;
  for (const text of attacksOn(regex)) {
    const before = process.threadCpuUsage();
    text.replace(new RegExp(regex.source, regex.flags), "");
    worstMs = Math.max(worstMs, process.threadCpuUsage(before).user / 1000);
  }
  parentPort?.postMessage(worstMs, []);
});
