import * as v from "valibot";
import { AppError } from "../../shared/app_error.ts";
import { instant, uuid } from "../../shared/schemas/primitives.ts";
import { defaultScopes, line } from "../features/team/team_schemas.ts";
import { roleSchema, scopeSchema } from "../../shared/schemas/team.ts";

/** The flags of the command line, still text. */
export type AdminArguments = Readonly<Record<string, unknown>>;

const maxTtlSeconds = 31_536_000;
const maxLimit = 10_000;
const scopeList = v.pipe(
  v.optional(v.string(), defaultScopes.join()),
  v.transform((list) => [...new Set(list.split(",").map((scope) => scope.trim()))]),
  v.array(scopeSchema),
);

/** Each with its name in a refusal, and what is expected. */
const schemas = {
  tenant: [uuid(), "--tenant", "a lower-case UUID"],
  id: [uuid(), "the API key's id", "a lower-case UUID"],
  name: [v.pipe(v.string(), v.trim(), line(200)), "--name", "1 to 200 characters without control characters"],
  sub: [line(255), "--sub", "1 to 255 characters without control characters"],
  role: [v.optional(roleSchema), "--role", roleSchema.options.join(", ")],
  scopes: [scopeList, "--scopes", `a comma list of ${scopeSchema.options.join(", ")}`],
  ttl: [integer(3600, maxTtlSeconds), "--ttl", `an integer of seconds from 1 to ${maxTtlSeconds}`],
  limit: [integer(50, maxLimit), "--limit", `an integer from 1 to ${maxLimit}`],
  expiresAt: [v.optional(instant), "--expires-at", "a future time such as 2027-01-31T00:00:00Z"],
} as const;

export type ArgumentName = keyof typeof schemas;
export type ParsedArgument<Name extends ArgumentName> = v.InferOutput<(typeof schemas)[Name][0]>;

/** Throws `AppError("invalid")`, which names the flag. */
export function parseArgument<Name extends ArgumentName>(args: AdminArguments, name: Name): ParsedArgument<Name> {
  const [schema, flag, expected] = schemas[name];
  const parsed = v.safeParse(schema, args[name]);
  if (!parsed.success) throw new AppError("invalid", `${flag} is not valid: expected ${expected}`);
  if (name === "expiresAt" && Date.parse(String(parsed.output)) <= Date.now()) {
    throw new AppError("invalid", `${flag} is in the past: expected ${expected}`);
  }
  return parsed.output;
}

function integer(byDefault: number, most: number) {
  return v.pipe(v.optional(v.string(), `${byDefault}`), v.digits(), v.toNumber(), v.minValue(1), v.maxValue(most));
}
