/** Takes the place of Node's `Buffer` in the script of the report formats: a package asks whether its options are buffers. */
export const Buffer = {
  isBuffer: () => false,
  from: (bytes: readonly number[]) => Uint8Array.from(bytes),
};
