/**
 * The lines of one turn of the event loop are written at once: each write is a system call, and each stream that opens is a line.
 * What is left when the process exits is written then.
 */
export function joinLines(write: (text: string) => void): (line: string) => void {
  let joined = "";
  const flush = () => {
    process.off("exit", flush);
    const text = joined;
    joined = "";
    if (text !== "") write(text);
  };
  return (line) => {
    if (joined === "") {
      setImmediate(flush);
      process.once("exit", flush);
    }
    joined += line;
  };
}
