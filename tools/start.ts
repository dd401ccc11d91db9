/** What `npm run new` writes for one kind of thing. */
export interface Start {
  /** Paths from the root of the project, each with its text. */
  readonly files: Readonly<Record<string, string>>;
  /** Changes of files that exist, in order. */
  readonly edits: readonly Edit[];
  /** Generated from `drizzle/schema.ts` as it is then; the SQL is added to it. */
  readonly migration?: { readonly name: string; readonly sql: string };
  /** Commands that write what can be derived, as arguments of Node. */
  readonly commands: readonly (readonly string[])[];
  /** Files or folders that the commands change. */
  readonly derived?: readonly string[];
  /** What a person does next. */
  readonly next: readonly string[];
}

/** Puts `text` before the first place where `before` stands, searched from `from` on; the start of the file when there is no `from`. */
export interface Edit {
  readonly path: string;
  readonly text: string;
  readonly before: string;
  readonly from?: string;
}

/** `log_stream` → `logStream`. */
export function camelCase(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
