import { createInterface } from "node:readline/promises";

/**
 * Asks on the terminal, and gives the line that a person types; null when the person interrupts or closes the input. Null
 * instead of a function: nobody sits there. The terminal itself edits the line, so that Ctrl-C stays a signal.
 */
export function createAsk(interrupted: AbortSignal): ((question: string) => Promise<string | null>) | null {
  const { stdin, stderr } = process;
  if (!stdin.isTTY || !stderr.isTTY) return null;
  return async (question) => {
    const lines = createInterface({ input: stdin, output: stderr, terminal: false });
    const closed = new Promise<null>((resolve) => {
      lines.once("close", () => resolve(null));
    });
    try {
      return await Promise.race([lines.question(question, { signal: interrupted }), closed]);
    } catch (error) {
      if (interrupted.aborted) return null;
      throw error;
    } finally {
      lines.close();
    }
  };
}
