export interface BatchedLog {
  readonly write: (line: string) => void;
  /** Writes what waits. */
  readonly flush: () => void;
}

/**
 * The lines of one turn of the event loop are written at once: each write is a system call, and each stream that opens is a line.
 * What is left when the process exits is written then.
 */
export function batchLogWrites(write: (text: string) => void): BatchedLog {
  let joined = "";
  const flush = () => {
    process.off("exit", flush);
    const text = joined;
    joined = "";
    if (text !== "") write(text);
  };
  return {
    write(line) {
      if (joined === "") {
        setImmediate(flush);
        process.once("exit", flush);
      }
      joined += line;
    },
    flush,
  };
}
