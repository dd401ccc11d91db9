const patterns = [
  /Cannot perform I\/O on behalf of a different/i,
  /different request'?s? context/i,
  /code had hung/i,
  /would never generate a response/i,
  /cross-request/i,
  /uncaught|unhandled/i,
  /a request failed|a stream could not/,
  /Internal error|internal error in Durable Object/i,
  /\bwarning\b/i,
];

/** The lines in which the runtime, or our own log, says that something is wrong that no client may have seen. */
export function runtimeComplaints(output: string): readonly string[] {
  return output.split("\n").filter((line) => patterns.some((pattern) => pattern.test(line)));
}
