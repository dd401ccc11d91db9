import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import jsTokens from "js-tokens";
import { expect, test } from "vitest";
import type { TimedRegex } from "../support/regex_timing_child.ts";

/**
 * No regular expression may take a time that grows with the square of a text from outside. Each one of the source is tried on
 * texts of up to 80,000 characters that repeat what stands in it; a quadratic one takes a second and more, and is stopped.
 */

const root = join(import.meta.dirname, "../..");
/** Of the processor, on one text. */
const maxMs = 100;
/** On the clock, for all texts of one expression together. */
const maxWaitMs = 20_000;

/** Those that are quadratic, and whose texts are short whatever comes from outside: tried at that length. */
const bounded: readonly { readonly regex: string; readonly maxLength: number; readonly why: string }[] = [
  {
    regex: "/signature|private_key_jwt|client_assertion.*invalid|jwks|public key/i",
    maxLength: 200,
    why: "toSafeText shortens the text of a refused login",
  },
];

interface FoundRegex extends TimedRegex {
  readonly where: string;
}

function regexesOf(file: string): readonly FoundRegex[] {
  const code = stripTypeScriptTypes(readFileSync(join(root, file), "utf8"));
  return [...jsTokens(code)]
    .filter((token) => token.type === "RegularExpressionLiteral")
    .map(({ value }) => {
      const end = value.lastIndexOf("/");
      const bound = bounded.find(({ regex }) => regex === value);
      const maxLength = bound?.maxLength ?? Infinity;
      return { source: value.slice(1, end), flags: value.slice(end + 1), maxLength, where: `${file}: ${value}` };
    });
}

const files = globSync("{scanner,shared,gateway,drizzle}/**/*.ts", { cwd: root });
const found = [
  ...new Map(files.flatMap(regexesOf).map((regex) => [`/${regex.source}/${regex.flags}`, regex])).values(),
];

test("every regular expression of the source is found", () => {
  expect(found.length).toBeGreaterThan(150);
  const values = found.map(({ source, flags }) => `/${source}/${flags}`);
  for (const { regex } of bounded) expect(values, "a bound for an expression that is gone").toContain(regex);
});

test("none is made at run time, where nothing could try it", () => {
  const makers = files.filter((file) =>
    /\bRegExp\s*\(/.test(stripTypeScriptTypes(readFileSync(join(root, file), "utf8"))),
  );
  expect(makers).toEqual([]);
});

test("takes a time that grows with the text and not with its square, each of them", async () => {
  expect(await slowOnes(await slowOnes(found))).toEqual([]);
}, 180_000);

test("a quadratic one is seen", async () => {
  const quadratic = { source: "\\s+$", flags: "", maxLength: Infinity, where: "here" };
  expect(await slowOnes([quadratic], 3000)).toEqual([quadratic]);
});

async function slowOnes(regexes: readonly FoundRegex[], waitMs = maxWaitMs): Promise<readonly FoundRegex[]> {
  const slow: FoundRegex[] = [];
  let worker = await startWorker();
  for (const regex of regexes) {
    if (await isTimely(worker, regex, waitMs)) continue;
    slow.push(regex);
    await worker.terminate();
    worker = await startWorker();
  }
  await worker.terminate();
  return slow;
}

async function startWorker(): Promise<Worker> {
  const worker = new Worker(join(root, "test/support/regex_timing_child.ts"));
  await once(worker, "message");
  return worker;
}

async function isTimely(worker: Worker, { source, flags, maxLength }: FoundRegex, waitMs: number): Promise<boolean> {
  worker.postMessage({ source, flags, maxLength } satisfies TimedRegex, []);
  try {
    const [worstMs] = await once(worker, "message", { signal: AbortSignal.timeout(waitMs) });
    return Number(worstMs) <= maxMs;
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") return false;
    throw error;
  }
}
