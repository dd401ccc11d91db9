/** What is said of a finding in addition: a text, or nothing. */
export interface FindingNote {
  readonly description: string;
  /** The version of the report's schema that began to have it. */
  readonly since: string;
  /** Its name for people: on the page, and in the reports for people. Absent: the page shows it in a place of its own. */
  readonly label?: string;
  /** Also in the reports for people, and in CSV as a column. */
  readonly isInReports?: boolean;
  /** It keeps its line breaks, and whoever makes it bounds it. */
  readonly hasLines?: boolean;
}

/**
 * The notes of a finding. One that is described here is sent, published, stored, listed, documented, shown and written
 * everywhere: `notes` of a check's draft sets it, and `npm run schemas` describes it.
 */
export const findingNotes = {
  to_pass: { description: "What to change for it, in one sentence", since: "1.2", label: "To pass" },
  evaluation: {
    description:
      "The rules in the order in which Okta evaluates them, and where they were read, a line each; → decides",
    since: "1.2",
    hasLines: true,
  },
  read_from: { description: "The requests that read its values, each with the time of its answer", since: "1.2" },
} as const satisfies Readonly<Record<string, FindingNote>>;

export type NoteName = keyof typeof findingNotes;
export type FindingNotes = { readonly [Name in NoteName]?: string };

/** A value for each note; one that is undefined is left out. */
export function mapNotes<Value>(toValue: (name: NoteName, note: FindingNote) => Value | undefined): {
  readonly [Name in NoteName]?: Value;
} {
  const entries = Object.entries(findingNotes).map(([name, note]) => [name, toValue(name as NoteName, note)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** The notes that a finding has. */
export function notesOf(finding: { readonly [Name in NoteName]?: string | null | undefined }): FindingNotes {
  return mapNotes((name) => finding[name] ?? undefined);
}

/** Those that have a name for people, in order. */
export function labelledNotes(notes: FindingNotes): readonly LabelledNote[] {
  const labelled = mapNotes((name, { label, isInReports = false }) => {
    const text = notes[name];
    return label === undefined || text === undefined ? undefined : { label, text, isInReports };
  });
  return Object.values(labelled);
}

interface LabelledNote {
  readonly label: string;
  readonly text: string;
  readonly isInReports: boolean;
}
