import * as v from "valibot";
import { AppError } from "../../shared/app_error.ts";
import { instant, uuid } from "../../shared/schemas/primitives.ts";
import { defaultScopes, line } from "../features/team/team_schemas.ts";
import { roleSchema, scopeSchema } from "../../shared/schemas/team.ts";

/** The flags of the command line, still text. Their parsers throw `AppError("invalid")`, which names the flag. */
export type AdminArguments = Readonly<Record<string, unknown>>;

const maxTtlSeconds = 31_536_000;
const maxLimit = 10_000;
const scopeList = v.pipe(
  v.optional(v.string(), defaultScopes.join()),
  v.transform((list) => [...new Set(list.split(",").map((scope) => scope.trim()))]),
  v.array(scopeSchema),
);

export const parseTenantId = (args: AdminArguments) => parseUuid(args["tenant"], "--tenant");
export const parseUuid = (value: unknown, what: string) => parse(uuid(), value, what, "a lower-case UUID");
export const parseName = ({ name }: AdminArguments) =>
  parse(v.pipe(v.string(), v.trim(), line(200)), name, "--name", "1 to 200 characters");
export const parseSub = ({ sub }: AdminArguments) => parse(line(255), sub, "--sub", "1 to 255 characters");
export const parseRole = ({ role }: AdminArguments) =>
  parse(v.optional(roleSchema), role, "--role", roleSchema.options.join(", "));
export const parseScopes = ({ scopes }: AdminArguments) =>
  parse(scopeList, scopes, "--scopes", `a comma list of ${scopeSchema.options.join(", ")}`);
export const parseTtlSeconds = ({ ttl }: AdminArguments) =>
  parse(integer(3600, maxTtlSeconds), ttl, "--ttl", `an integer of seconds from 1 to ${maxTtlSeconds}`);
/** How many are listed. */
export const parseLimit = ({ limit }: AdminArguments) =>
  parse(integer(50, maxLimit), limit, "--limit", `an integer from 1 to ${maxLimit}`);

/** Null: none is named. */
export function parseExpiresAt({ expiresAt }: AdminArguments): string | null {
  const expected = "a future time such as 2027-01-31T00:00:00Z";
  const time = parse(v.nullable(instant), expiresAt ?? null, "--expires-at", expected);
  if (time === null || Date.parse(time) > Date.now()) return time && new Date(time).toISOString();
  throw new AppError("invalid", `--expires-at is in the past: expected ${expected}`);
}

function integer(byDefault: number, most: number) {
  return v.pipe(v.optional(v.string(), `${byDefault}`), v.digits(), v.toNumber(), v.minValue(1), v.maxValue(most));
}

function parse<Schema extends v.GenericSchema>(schema: Schema, value: unknown, what: string, expected: string) {
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return parsed.output;
  throw new AppError("invalid", `${what} is not valid: expected ${expected}`);
}
