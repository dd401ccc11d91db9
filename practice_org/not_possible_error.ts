/** The org lacks what the change is about, or is already as the change would make it. */
export class NotPossibleError extends Error {
  override readonly name = "NotPossibleError";
}
