/**
 * Whether it can be an id: no empty text, nothing longer than any id, and no blanks or invisible characters, as in ids that
 * `okta/provider_text.ts` had to change.
 */
export function isUsableId(id: unknown): id is string {
  return typeof id === "string" && idShape.test(id);
}

// Lone surrogates are of the category C too.
const idShape = /^[^\s\p{C}\uFFFD]{1,200}$/u;
