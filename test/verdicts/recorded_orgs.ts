import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import type { Answer } from "./answers.ts";

/** An organization as it was recorded: a profile, and the role that it was read with. */
export interface RecordedOrg {
  /** `typical/read-only`. */
  readonly name: string;
  readonly clientId: string;
  /** Answers by path with query. */
  readonly answers: Map<string, Answer>;
}

/** The file: each distinct body once, and answers as the status, the number of the body, and the headers. */
interface RecordedFile {
  readonly orgs: readonly {
    readonly name: string;
    readonly clientId: string;
    readonly answers: Readonly<Record<string, readonly [number, number, Answer["headers"]]>>;
  }[];
  readonly bodies: readonly string[];
}

const file = join(import.meta.dirname, "recorded_orgs.json.br");

export function loadRecordedOrgs(): readonly RecordedOrg[] {
  const { orgs, bodies } = JSON.parse(brotliDecompressSync(readFileSync(file)).toString()) as RecordedFile;
  return orgs.map(({ name, clientId, answers }) => ({
    name,
    clientId,
    answers: new Map(
      Object.entries(answers).map(([path, [status, body, headers]]) => [
        path,
        { status, headers, body: bodies[body] ?? "" },
      ]),
    ),
  }));
}

export function saveRecordedOrgs(orgs: readonly RecordedOrg[]): void {
  const numbers = new Map<string, number>();
  const numberOf = (body: string) => {
    if (!numbers.has(body)) numbers.set(body, numbers.size);
    return numbers.get(body) ?? 0;
  };
  const written: RecordedFile["orgs"] = orgs.map(({ name, clientId, answers }) => {
    const sorted = [...answers].toSorted(([one], [other]) => (one < other ? -1 : 1));
    return {
      name,
      clientId,
      answers: Object.fromEntries(
        sorted.map(([path, { status, headers, body }]) => [path, [status, numberOf(body), headers] as const]),
      ),
    };
  });
  const text = JSON.stringify({ orgs: written, bodies: [...numbers.keys()] } satisfies RecordedFile);
  const params = { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_QUALITY]: 10 };
  writeFileSync(file, brotliCompressSync(text, { params }));
}

/** Throws where nothing was recorded: a scan that asks for something else needs a new recording. */
export function answerOf({ name, answers }: RecordedOrg, path: string): Answer {
  const answer = answers.get(path);
  if (answer === undefined) throw new Error(`No recorded answer of ${name} for GET ${path}`);
  return answer;
}
