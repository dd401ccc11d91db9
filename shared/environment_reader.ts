/** The form that `process.env`, `Deno.env.toObject()` and a Worker's bindings have in common. */
export type Environment = Readonly<Record<string, unknown>>;

/** Reads variable by variable and collects every problem; no problem ever holds a value. */
export type EnvironmentReader = ReturnType<typeof createEnvironmentReader>;

/** Longer, and a timer of the runtime would overflow and fire at once. */
const maxSeconds = 2_000_000;

/** One value is refused: the message is what it should be, without the value. */
export class InvalidSetting extends Error {}

interface Bounds<Fallback> {
  readonly fallback: Fallback;
  readonly min: number;
  readonly max: number;
}

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

  function integer<Fallback extends number | null>(name: string, bounds: Bounds<Fallback>): number | Fallback {
    const { fallback, min, max } = bounds;
    const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`;
    const parse = (value: string) => {
      const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
      if (number >= min && number <= max) return number;
      throw new InvalidSetting(`expected an integer ${range}`);
    };
    return parsed(name, text(name), parse) ?? fallback;
  }

  function seconds(name: string, fallback: number, { least = "above 0" }: { least?: "0" | "above 0" } = {}): number {
    const range = least === "0" ? "from 0 to" : "above 0 and at most";
    const parse = (value: string) => {
      const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
      if (number <= maxSeconds && (number > 0 || (number === 0 && least === "0"))) return number;
      throw new InvalidSetting(`expected a number of seconds ${range} ${maxSeconds}`);
    };
    return parsed(name, text(name), parse) ?? fallback;
  }

  function url(name: string, protocols: readonly string[], example: string): string | null {
    return parsed(name, text(name), (value) => {
      const address = URL.parse(value);
      // A Unix socket is named in the query: postgres:///database?host=/run/postgresql
      const hasHost = address !== null && (address.hostname !== "" || address.searchParams.has("host"));
      // `fetch` takes no address that names a user.
      const isFetched = protocols.includes("https:");
      const hasUser = hasHost && address.username + address.password !== "";
      if (hasHost && protocols.includes(address.protocol) && !(isFetched && hasUser)) return value;
      throw new InvalidSetting(`expected a URL like ${example}`);
    });
  }

  function pattern(name: string, expression: RegExp, expected: string): string | null {
    return parsed(name, text(name), (value) => {
      if (expression.test(value)) return value;
      throw new InvalidSetting(`expected ${expected}`);
    });
  }

  return { problems: problems as readonly string[], report, text, integer, seconds, url, pattern, parsed };
}
