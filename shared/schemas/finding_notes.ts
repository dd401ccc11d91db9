import { toLine } from "../text.ts";

/** An additional text of a finding, which may be missing. */
export interface FindingNote {
  readonly description: string;
  /** The version of the report's schema that began to have it. */
  readonly since: string;
  /** Its name for people: on the page, and in the reports for people. Absent: the page shows it in a separate place. */
  readonly label?: string;
  /** Also in the reports for people, and in CSV as a column. */
  readonly isInReports?: boolean;
  /** It keeps its line breaks, and whoever makes it bounds it. */
  readonly hasLines?: boolean;
}

/**
 * The notes of a finding. One that is described here is sent, published, stored, listed, documented, shown and written
 * everywhere: `notes` of a check's draft sets it, and `tools/schemas.ts` describes it.
 */
const findingNotes = {
  to_pass: { description: "What to change for it, in one sentence", since: "1.2", label: "To pass" },
  evaluation: {
    description:
      "The rules in the order in which Okta evaluates them, and where they were read, a line each; → decides",
    since: "1.2",
    hasLines: true,
  },
  rests_on: {
    description: "The organization's own document that decided it, with who approved it, when, and its end",
    since: "1.2",
    label: "Rests on",
    isInReports: true,
  },
  read_from: { description: "The requests that read its values, each with the time of its answer", since: "1.2" },
} as const satisfies Readonly<Record<string, FindingNote>>;

export type NoteName = keyof typeof findingNotes;
export type FindingNotes = { readonly [Name in NoteName]?: string };

/** A value for each note. */
/* @__NO_SIDE_EFFECTS__ */
export function mapNotes<Value>(toValue: (name: NoteName, note: FindingNote) => Value) {
  const names = Object.keys(findingNotes) as readonly NoteName[]; // `keys` forgets that the description is closed.
  const entries = names.map((name) => [name, toValue(name, findingNotes[name])]);
  return Object.fromEntries(entries) as { readonly [Name in NoteName]: Value };
}

/** The notes that a finding has. With `maxLength` each is one line of at most `maxLength` characters, unless it keeps its lines. */
export function notesOf(
  finding: { readonly [Name in NoteName]?: string | null | undefined },
  maxLength?: number,
): FindingNotes {
  const notes = mapNotes((name, { hasLines = false }) => {
    const note = finding[name] ?? undefined;
    return note === undefined || maxLength === undefined || hasLines ? note : toLine(note, maxLength);
  });
  return Object.fromEntries(Object.entries(notes).filter(([, note]) => note !== undefined));
}

/** The notes with a name for people, in order, each with its text. */
export function labelledNotes(notes: { readonly [Name in NoteName]?: string | null | undefined }) {
  const all = Object.values(mapNotes((name, note) => ({ label: "", ...note, text: notes[name] ?? "" })));
  return all.filter(({ label, text }) => label !== "" && text !== "");
}
