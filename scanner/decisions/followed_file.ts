import { stampOf, type NamedFile } from "../../command_line/files.ts";

/**
 * Keeps what a file says while it may change. A file that cannot be used any more is said once for each content. Without a file,
 * and of a pipe, which can be read once, the value stays. Rejects where the file cannot be read at first.
 */
export async function followFile<Value>(
  source: NamedFile | null,
  read: () => Promise<Value>,
  sayKept: (problem: string) => void,
) {
  const stampNow = async () => (source === null ? null : stampOf(source.file));
  // Noted before it is read, so that a change in between is seen.
  let stamp = await stampNow();
  let value = await read();
  return {
    current: () => value,
    /** Reads the file again where it changed; true where that gave another value. What cannot be used leaves the old one in force. */
    async refresh(): Promise<boolean> {
      const now = await stampNow();
      if (now === stamp) return false;
      stamp = now;
      try {
        value = await read();
        return true;
      } catch (error) {
        sayKept(error instanceof Error ? error.message : String(error));
        return false;
      }
    },
  };
}
