/** The platform's vocabulary: the second half of every event type. A new verb is added here. */
export const verbs = [
  "created",
  "updated",
  "deleted",
  "start",
  "delta",
  "progress",
  "end",
  "error",
  "snapshot",
] as const;

export type Verb = (typeof verbs)[number];

export function isVerb(value: string): value is Verb {
  return (verbs as readonly string[]).includes(value);
}
