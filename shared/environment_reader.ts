/** The form that `process.env`, `Deno.env.toObject()` and a Worker's bindings have in common. */
export type Environment = Readonly<Record<string, unknown>>;

/** Reads variable by variable and collects every problem; no problem ever holds a value. */
export type EnvironmentReader = ReturnType<typeof createEnvironmentReader>;

/** Longer, and a timer of the runtime would overflow and fire at once. */
const maxSeconds = 2_000_000;

/** One value is refused: the message is what it should be, without the value. */
export class InvalidSetting extends Error {}

export function createEnvironmentReader(environment: Environment) {
  const problems: string[] = [];

  function report(problem: string): void {
    problems.push(problem);
  }

  function text(name: string): string | null {
    const value = environment[name];
    if (typeof value !== "string") return null;
    const trimmed = value.trim();
    return trimmed === "" ? null : trimmed;
  }

  /** Any setting that was given, a flag's too. `parse` throws `InvalidSetting`. */
  function parsed<Value>(name: string, given: string | null | undefined, parse: (text: string) => Value): Value | null {
    if (given === undefined || given === null) return null;
    try {
      return parse(given.trim());
    } catch (error) {
      if (!(error instanceof InvalidSetting)) throw error;
      report(`${name}${/^(is|has|holds|names) /.test(error.message) ? "" : ":"} ${error.message}`);
      return null;
    }
  }

  function matching(name: string, isValid: (text: string) => boolean, expected: string): string | null {
    return parsed(name, text(name), (value) => {
      if (isValid(value)) return value;
      throw new InvalidSetting(`expected ${expected}`);
    });
  }

  function number(name: string, form: RegExp, isValid: (number: number) => boolean, expected: string): number | null {
    const value = matching(name, (given) => form.test(given) && isValid(Number(given)), expected);
    return value === null ? null : Number(value);
  }

  function integer<Fallback extends number | null>(
    name: string,
    { fallback, min, max }: { readonly fallback: Fallback; readonly min: number; readonly max: number },
  ): number | Fallback {
    const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`;
    return number(name, /^\d+$/, (value) => value >= min && value <= max, `an integer ${range}`) ?? fallback;
  }

  function seconds(name: string, fallback: number, { least = "above 0" }: { least?: "0" | "above 0" } = {}): number {
    const range = `${least === "0" ? "from 0 to" : "above 0 and at most"} ${maxSeconds}`;
    const isValid = (value: number) => value <= maxSeconds && (value > 0 || least === "0");
    return number(name, /^\d+(\.\d+)?$/, isValid, `a number of seconds ${range}`) ?? fallback;
  }

  function url(name: string, protocols: readonly string[], example: string): string | null {
    const isValid = (value: string) => {
      const address = URL.parse(value);
      // A Unix socket is named in the query: postgres:///database?host=/run/postgresql
      const hasHost = address !== null && (address.hostname !== "" || address.searchParams.has("host"));
      // `fetch` takes no address that names a user.
      const isFetched = protocols.includes("https:");
      const hasUser = hasHost && address.username + address.password !== "";
      return hasHost && protocols.includes(address.protocol) && !(isFetched && hasUser);
    };
    return matching(name, isValid, `a URL like ${example}`);
  }

  function pattern(name: string, expression: RegExp, expected: string): string | null {
    return matching(name, (value) => expression.test(value), expected);
  }

  return { problems: problems as readonly string[], report, text, integer, seconds, url, pattern, parsed };
}
