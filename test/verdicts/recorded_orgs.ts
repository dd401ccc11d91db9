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

type WrittenOrg = Omit<RecordedOrg, "answers"> & { readonly answers: readonly (readonly [string, Answer])[] };

const file = join(import.meta.dirname, "recorded_orgs.json.br");

export function loadRecordedOrgs(): readonly RecordedOrg[] {
  const orgs = JSON.parse(brotliDecompressSync(readFileSync(file)).toString()) as readonly WrittenOrg[];
  return orgs.map((org) => ({ ...org, answers: new Map(org.answers) }));
}

/** In a window of 16 MiB an answer that several organizations have takes no room twice. */
export function saveRecordedOrgs(orgs: readonly RecordedOrg[]): void {
  const written = orgs.map((org): WrittenOrg => {
    const sorted = [...org.answers].toSorted(([one], [other]) => (one < other ? -1 : 1));
    return { ...org, answers: sorted };
  });
  const params = { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_QUALITY]: 10 };
  writeFileSync(file, brotliCompressSync(JSON.stringify(written), { params }));
}

/** Throws where nothing was recorded: a scan that asks for something else needs a new recording. */
export function answerOf({ name, answers }: RecordedOrg, path: string): Answer {
  const answer = answers.get(path);
  if (answer === undefined) throw new Error(`No recorded answer of ${name} for GET ${path}`);
  return answer;
}
