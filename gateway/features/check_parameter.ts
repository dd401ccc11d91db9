import { AppError } from "../../shared/app_error.ts";
import { requireCheckName } from "../../shared/rule_names.ts";
import { textParameter, type QueryParameter } from "../http/query_parameter.ts";

/** The name of the check that a query's parameter names. */
export function checkParameter(name: "check" | "rule", description?: string): QueryParameter<string> {
  const parameter = textParameter(200, description);
  return {
    ...parameter,
    parse(text) {
      if (parameter.parse(text) === undefined) return undefined;
      const named = requireCheckName(text);
      if ("check" in named) return named.check;
      throw new AppError("malformed", `The query's ${name} is not valid: ${named.problem}`);
    },
  };
}
