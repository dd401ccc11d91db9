import type { Context } from "hono";
import { AppError } from "../../shared/app_error.ts";
import { requireCheckName } from "../../shared/rule_names.ts";
import { textParameter } from "../http/query_parameter.ts";

const maxCheckLength = 200;

/** The name of the check that the query's parameter names; null: it has none. Throws `AppError("malformed")`. */
export function checkParameter(c: Context, name: "check" | "rule" = "check"): string | null {
  const text = textParameter(c, name, maxCheckLength);
  if (text === null) return null;
  const named = requireCheckName(text);
  if ("check" in named) return named.check;
  throw new AppError("malformed", `The query's ${name} is not valid: ${named.problem}`);
}
